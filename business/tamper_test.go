package business_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sayso/business"
	"sayso/jwk"
	"sayso/vectors"
)

var update = flag.Bool("update", false, "write the vectors of tampered documents")

// The vectors are what the builder makes, byte for byte: another implementation signs the same texts alike.
func TestTamperVectorsAreCurrent(t *testing.T) {
	b := buildTampers()
	for name, want := range map[string][]byte{"xp-tamper.jsonl": lines(b.vectors), "xp-tamper-evidence.jsonl": lines(b.evidence)} {
		path := filepath.Join("..", "vectors", "data", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the builder makes (%v); run go test ./business -run TestTamperVectorsAreCurrent -update and look at the difference", name, err)
		}
	}
}

// tamperEvidence is the evidence of a vector as a reader holds it.
func tamperEvidence(t testing.TB, v *vectors.Tamper, all map[string]vectors.TamperEvidence) business.Evidence {
	t.Helper()
	at, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) *business.Fetched {
		if name == "" {
			return nil
		}
		e, ok := all[name]
		switch {
		case !ok:
			t.Fatalf("no evidence %s", name)
		case e.Error == "net_refused":
			return &business.Fetched{Err: business.ErrNetRefused}
		case e.Error != "":
			return &business.Fetched{Err: errors.New(e.Error)}
		}
		return &business.Fetched{Body: []byte(e.Document), At: at}
	}
	e := business.Evidence{
		RegistryKeys: get(v.RegistryKeys), PublisherKeys: get(v.PublisherKeys), Revocations: get(v.Revocations), PublisherList: get(v.PublisherList),
		Publisher: v.Publisher, At: at, FutureSkew: business.ReaderSkew,
	}
	if v.Root != nil {
		root, err := jwk.DecodeBase64URL(*v.Root)
		if err != nil {
			t.Fatal(err)
		}
		e.Root = &business.Root{Kid: "test-root", Public: root}
	}
	if v.Call != nil {
		e.Call = &business.Call{Tool: v.Call.Tool}
		if v.Call.Arguments != "" {
			e.Call.Arguments = []byte(v.Call.Arguments)
		}
	}
	return e
}

func wantOf(f business.Finding) *vectors.TamperFinding {
	return &vectors.TamperFinding{Value: f.Value, Reason: f.Reason, Count: f.Count}
}

func TestTamperVectors(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	for _, v := range vectors.TampersXP() {
		t.Run(v.Name, func(t *testing.T) {
			got, err := business.Verify([]byte(v.Document), tamperEvidence(t, &v, evidence))
			var found vectors.TamperWant
			if err != nil {
				e := asFormatError(t, err)
				found.Error = &vectors.TamperError{Code: e.Code, Rule: e.Rule}
			} else {
				found = vectors.TamperWant{
					Kind: got.Kind, Signature: wantOf(got.Signature), Identity: wantOf(got.Identity), Authority: wantOf(got.Authority), Revocation: wantOf(got.Revocation),
					Call: wantOf(got.Call), Mirror: wantOf(got.Mirror), Usable: wantOf(got.Usable),
				}
				for _, f := range []business.Finding{got.Signature, got.Identity, got.Authority, got.Revocation, got.Call, got.Mirror, got.Usable} {
					if f.Message == "" {
						t.Errorf("%s %s has no sentence", f.Value, f.Reason)
					}
				}
			}
			if a, b := asJSON(found), asJSON(v.Want); a != b {
				t.Errorf("%s\n got %s\nwant %s", v.Note, a, b)
			}
		})
	}
}
