package vectors_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"

	"sayso/jcs"
	"sayso/vectors"
)

func TestFiles(t *testing.T) {
	files, err := fs.Glob(vectors.FS, "data/*.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(vectors.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			var v struct{ Name, Class string }
			members, err := jcs.Members([]byte(line))
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			for _, m := range members {
				switch m.Name {
				case "name":
					v.Name, _ = jcs.Text(m.Value)
				case "class":
					v.Class, _ = jcs.Text(m.Value)
				}
			}
			if v.Name == "" || v.Class == "" || names[v.Name] {
				t.Errorf("%s:%d: name %q, class %q", file, i+1, v.Name, v.Class)
			}
			names[v.Name] = true
		}
	}
}

func TestCounts(t *testing.T) {
	classes := map[string]int{}
	for _, v := range vectors.JWS() {
		classes[v.Class]++
	}
	if len(classes) != 5 {
		t.Errorf("jws classes: %v", classes)
	}
	for name, n := range map[string][2]int{
		"claims": {len(vectors.Claims()), 23}, "attestations": {len(vectors.Attestations()), 3},
		"numbers": {len(vectors.Numbers()), 27}, "jws": {len(vectors.JWS()), 90}, "keys": {len(vectors.Keys()), 65},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: %d vectors, want %d", name, n[0], n[1])
		}
	}
}

// TestConsistent checks what each file says about itself.
func TestConsistent(t *testing.T) {
	for _, v := range vectors.Claims() {
		sum := sha256.Sum256([]byte(v.Canonical))
		if v.Hash != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("claim %s: hash %s", v.Name, v.Hash)
		}
	}
	for _, v := range vectors.Attestations() {
		head, _, _ := strings.Cut(v.JWS, "..")
		if head != base64.RawURLEncoding.EncodeToString([]byte(v.Header)) {
			t.Errorf("attestation %s: header differs from the one in jws", v.Name)
		}
		if (v.Class == vectors.Valid) != (v.Canonical == v.Payload) {
			t.Errorf("attestation %s: class %s", v.Name, v.Class)
		}
	}
	for _, v := range vectors.Numbers() {
		if (v.Class == vectors.Valid) != (v.Text != nil) || len(v.Bits) != 16 {
			t.Errorf("number %s: class %s, text %v", v.Name, v.Class, v.Text)
		}
	}
}
