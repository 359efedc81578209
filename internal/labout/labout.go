// Package labout writes what the experiments of sayso lab found: DIR/<id>.csv with the table of an experiment, DIR/<id>.png or DIR/<id>-<name>.png with its
// figures, and DIR/results.json.
//
// results.json is one JSON array with an object for each quoted number: claim, the id of the statement (A1a to A8) or the experiment; what, which number of
// it; value, what was measured; want and within, the quoted figure and how far the value may lie from it; class, the kind of tolerance; ok, whether it does not.
//
// A file appears whole or not at all. The plotting library stays inside this package.
package labout

import (
	"fmt"
	"os"
	"path/filepath"

	"sayso/gidp/lab"
	"sayso/jcs"
)

// ResultsFile is the name of the file of all quoted numbers.
const ResultsFile = "results.json"

// Write makes the folder and writes the table and the figures of one experiment. It returns the names of the files, without the folder.
func Write(dir string, r *lab.Result) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	names := []string{r.ID + ".csv"}
	if err := put(dir, names[0], r.Table.AppendCSV(nil)); err != nil {
		return nil, err
	}
	for i := range r.Figures {
		name := r.ID
		if r.Figures[i].Name != "" {
			name += "-" + r.Figures[i].Name
		}
		picture, err := encode(&r.Figures[i])
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", name, err)
		}
		if err := put(dir, name+".png", picture); err != nil {
			return nil, err
		}
		names = append(names, name+".png")
	}
	return names, nil
}

// WriteResults writes results.json.
func WriteResults(dir string, rows []lab.Acceptance) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if rows == nil {
		rows = []lab.Acceptance{}
	}
	body, err := jcs.Encode(rows)
	if err != nil {
		return err
	}
	return put(dir, ResultsFile, append(body, '\n'))
}

// put replaces a file as a whole.
func put(dir, name string, data []byte) (err error) {
	temp, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(data); err == nil {
		err = temp.Chmod(0o644)
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), filepath.Join(dir, name))
}
