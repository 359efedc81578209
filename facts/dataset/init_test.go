package dataset_test

import (
	"errors"
	"maps"
	"os"
	"strings"
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

// The example is dated with the day on which its value begins, whenever it is made: it stays clean, and a snapshot of an earlier day than today can follow it.
func TestInitLeavesRoomForSnapshots(t *testing.T) {
	const begins = "2026-04-06"
	for _, made := range []string{begins, today, "2031-01-01"} {
		dir := t.TempDir()
		if _, err := dataset.Init(dir, day(t, made)); err != nil {
			t.Fatal(made, err)
		}
		folder := load(t, dir)
		if on := folder.Topics[0].Facts[0].Values[0].Verified; on != day(t, begins) {
			t.Errorf("made on %s: verified %s", made, on)
		}
		for _, later := range []string{made, "2031-01-02"} {
			wantClean(t, dataset.Lint(folder, day(t, later)))
		}
	}
	dir := initialised(t)
	if due := dataset.Due(load(t, dir), day(t, "2027-04-05")); len(due) != 0 {
		t.Errorf("due before the value ends: %+v", due)
	}
	write(t, dir, map[string]string{"candidates/levies.yaml": strings.ReplaceAll(candidateFile, "        checked: 2026-11-26\n", "")})
	publisher := read(t, dir, "publisher.yaml")
	write(t, dir, map[string]string{"publisher.yaml": publisher + "  - {name: zz-rates, namespace: zz, description: Levies, cadence: Yearly, cadenceType: scheduled, everyDays: 365}\n"})
	publisher = strings.Replace(read(t, dir, "publisher.yaml"), "namespaces:\n", "namespaces:\n  - {name: zz, description: Levies, periods: none, authorities: [tax.example]}\n", 1)
	write(t, dir, map[string]string{"publisher.yaml": publisher})
	convert := func(on string) error {
		_, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/sugar-levy", Date: day(t, on), Today: day(t, today)})
		return err
	}
	err := convert("2026-04-05")
	wantKind(t, err, dataset.Refused, "the changelog cannot take the entry")
	var e *dataset.Error
	if errors.As(err, &e); !strings.Contains(e.Next, "its newest entry is uk/income-tax/personal-allowance of 2026-04-06") {
		t.Errorf("the hint does not name the case: %s", e.Next)
	}
	if err := convert("2026-08-21"); err != nil {
		t.Error(err)
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
