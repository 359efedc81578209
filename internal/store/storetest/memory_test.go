package storetest_test

import (
	"testing"

	"sayso/internal/app"
	"sayso/internal/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(testing.TB) app.Store { return storetest.NewMemory() })
}
