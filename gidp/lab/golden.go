package lab

import (
	"bytes"
	"embed"
)

// golden holds the table of every experiment as it was committed, from a full run.
//
//go:embed testdata/*.csv
var golden embed.FS

// AsCommitted reports whether the table of a full run is, byte for byte, the one that was committed.
func (r *Result) AsCommitted() bool {
	want, err := golden.ReadFile("testdata/" + r.ID + ".csv")
	return err == nil && bytes.Equal(r.Table.AppendCSV(nil), want)
}
