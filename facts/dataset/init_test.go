package dataset_test

import (
	"errors"
	"maps"
	"os"
	"testing"

	"sayso/facts/dataset"
)

func TestInitLintsClean(t *testing.T) {
	dir := initialised(t)
	wantClean(t, lintDir(t, dir))
	before := contents(t, dir)
	if _, err := dataset.Init(dir, day(t, "2026-12-01")); err != nil {
		t.Fatalf("second init: %v", err)
	}
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("the second init changed the folder")
	}
	folder, _ := dataset.Load(os.DirFS(dir))
	ds, err := folder.Dataset(dataset.DatasetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(ds.Facts) != 1 || !ds.Facts[0].Values[0].Converted || ds.Signed {
		t.Errorf("got %+v, want one converted, unsigned fact", ds.Facts)
	}
}

func TestInitRefusesOtherFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"notes.txt": "mine"})
	_, err := dataset.Init(dir, day(t, today))
	var e *dataset.Error
	if !errors.As(err, &e) || e.Kind != dataset.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
	if got := contents(t, dir); len(got) != 1 {
		t.Errorf("the folder now holds %v", got)
	}
}
