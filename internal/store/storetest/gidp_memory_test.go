package storetest_test

import (
	"context"
	"testing"

	"sayso/internal/store/storetest"
)

func TestGIDPMemory(t *testing.T) {
	storetest.RunGIDP(t, func(testing.TB) storetest.GIDP {
		return storetest.GIDP{Agents: storetest.NewAgents(), Provider: storetest.NewProvider(), Check: func(context.Context) error { return nil }}
	})
}
