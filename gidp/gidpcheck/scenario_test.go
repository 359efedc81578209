package gidpcheck

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sayso/gidp/wire"
)

var update = flag.Bool("update", false, "write the transcripts of the own scenarios anew")

// The scenarios of the reference, where they are at hand.
func TestReferenceScenarios(t *testing.T) {
	dir := os.Getenv("SAYSO_GIDP_SCENARIOS")
	if dir == "" {
		t.Skip("SAYSO_GIDP_SCENARIOS does not name the folder of the reference's scenarios")
	}
	play(t, dir, false)
}

// The own scenarios, with their transcripts.
func TestOwnScenarios(t *testing.T) { play(t, filepath.Join("testdata", "scenarios"), true) }

func play(t *testing.T, dir string, golden bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario in %s: %v", dir, err)
	}
	schemas := compileSchemas(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Load(data)
			if err != nil {
				t.Fatal(err)
			}
			var transcript bytes.Buffer
			w := s.Build()
			w.Watch = func(from *Side, data []byte) error {
				transcript.WriteString(from.Name + " " + string(data) + "\n")
				o, err := wire.Decode(data)
				if err != nil {
					return err
				}
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
				if err != nil {
					return err
				}
				return schemas[o.Type()].Validate(v)
			}
			if err := s.Run(w); err != nil {
				t.Errorf("%v\n%s", err, transcript.Bytes())
			}
			if golden {
				compare(t, file[:len(file)-len(".json")]+".transcript", transcript.Bytes())
			}
		})
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v: the transcript differs; run go test ./gidp/gidpcheck -run OwnScenarios -update and look at the change\n%s", file, err, got)
	}
}

func compileSchemas(t *testing.T) map[wire.Type]*jsonschema.Schema {
	t.Helper()
	out := map[wire.Type]*jsonschema.Schema{}
	for _, kind := range wire.Types() {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(wire.Schema(kind)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:schema", v); err != nil {
			t.Fatal(err)
		}
		if out[kind], err = c.Compile("mem:schema"); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A scenario that is loaded runs to an end, whatever it says.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load(data)
		if err != nil || len(s.Steps) > 50 {
			return
		}
		_ = s.Run(s.Build()) // an expectation that is not met is an error, not a failure of the harness
	})
}
