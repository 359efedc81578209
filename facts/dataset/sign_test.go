package dataset_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"sayso/facts/dataset"
)

// Into an absent key set the signer enters its own key; a value without confirmation is never signed.
func TestSignFirstTime(t *testing.T) {
	dir := initialised(t)
	before := contents(t, dir)
	var told []dataset.Signed
	var counted []int
	o := dataset.SignOptions{Key: testKey(t), Today: day(t, today), Progress: func(done, total int) { counted = append(counted, done, total) }}
	changedHisMind := errors.New("no")
	o.Before = func(list []dataset.Signed) error { return changedHisMind }
	if _, err := dataset.Sign(dir, o); !errors.Is(err, changedHisMind) || !maps.Equal(before, contents(t, dir)) {
		t.Errorf("an error of Before: %v", err)
	}
	o.Before = func(list []dataset.Signed) error {
		if told = list; !maps.Equal(before, contents(t, dir)) {
			t.Error("something was written before the signer was told")
		}
		return nil
	}
	r, err := dataset.Sign(dir, o)
	if err != nil || !r.EnterKey || len(r.New) != 1 || !r.New[0].Converted || !slices.Equal(told, r.New) || !slices.Equal(counted, []int{1, 1, 1, 1}) {
		t.Fatalf("got %+v, %v, told %+v, counted %v", r, err, told, counted)
	}
	o.Before = func([]dataset.Signed) error { return changedHisMind }
	if _, err := dataset.Sign(dir, o); err != nil {
		t.Errorf("nothing new to stand behind: %v", err)
	}
	wantClean(t, lintDir(t, dir))
	topic := read(t, dir, "topics/uk/income-tax.yaml")
	write(t, dir, map[string]string{"topics/uk/income-tax.yaml": strings.Replace(topic, "value: 12570\n", "value: 12580\n", 1)})
	_, err = dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)})
	var lint *dataset.FolderError
	if !errors.As(err, &lint) || !strings.Contains(list(lint.Report, "fail"), "VF-D-008") {
		t.Errorf("got %v, want the missing confirmation", err)
	}
}
