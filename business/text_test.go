package business

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// FuzzText: taking canonical text apart gives the same members and values as the strict reader, at every depth, and leaving one member out gives the digest
// of the object written without it.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"a":{}}`, `[[],{},"]","\"}",-1e5,true]`, `{"a\"}":"\\","b":["x,y",{"c":"\\\""}],"\\":null}`, `{"attestation":1}`, `{"a":1,"attestation":{"b":[1,2]},"z":"}"}`,
		`{"":"","\u2028":1,"\u0001":"\u001f"}`, `"x"`, `5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		canon, err := Canon(data)
		if err != nil {
			return
		}
		same(t, canon)
	})
}

func same(t *testing.T, value text) {
	t.Helper()
	members, isObject := value.object()
	want, err := Members(value)
	if isObject != (err == nil) || len(members) != len(want) {
		t.Fatalf("%s: object %v, %v", value, isObject, err)
	}
	for i, m := range members {
		if m.name != want[i].Name || !bytes.Equal(m.value, want[i].Value) || members.get(m.name) == nil {
			t.Fatalf("%s: member %d is %q: %s, want %q: %s", value, i, m.name, m.value, want[i].Name, want[i].Value)
		}
		rest := append([]byte{}, value[:m.start]...)
		rest = bytes.TrimSuffix(rest, []byte(","))
		tail := value[m.end:]
		if len(rest) == 1 {
			tail = bytes.TrimPrefix(tail, []byte(","))
		}
		if digest, err := Digest(append(rest, tail...)); err != nil || digest != hashWithout(value, members, m.name) {
			t.Fatalf("%s without %q: %v", value, m.name, err)
		}
		same(t, m.value)
	}
	if isObject && hashWithout(value, members, "no such member") != sha256.Sum256(value) {
		t.Fatalf("%s: leaving out nothing changes the digest", value)
	}
	elements, isArray := value.array()
	if isArray != (value[0] == '[') {
		t.Fatalf("%s: array %v", value, isArray)
	}
	joined := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(joined, e...)
		same(t, e)
	}
	if isArray && string(joined)+"]" != string(value) {
		t.Fatalf("%s: the elements are %s", value, joined)
	}
}
