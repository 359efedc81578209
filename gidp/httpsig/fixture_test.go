package httpsig

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"sayso/jwk"
)

var signed = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)

const window = 300 * time.Second

// newKey makes a key whose 32 bytes of seed are all n.
func newKey(t testing.TB, n byte) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.Generate("test", bytes.NewReader(bytes.Repeat([]byte{n}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// request is a request to an agent.
func request() Message {
	return Message{
		Method: "POST", Authority: "agent.example:8443", Path: "/a2a/q1/rpc",
		Header: map[string][]string{"A2a-Extensions": {"https://gidp.dev/extensions/gidp/0.1"}, "A2a-Version": {"1.0"}, "Content-Type": {"application/json"}},
		Body:   []byte(`{"jsonrpc":"2.0"}`),
	}
}

// send signs m and returns it as it travels.
func send(t testing.TB, p Profile, m Message, key *jwk.PrivateKey, params Params) Message {
	t.Helper()
	fields, err := Sign(p, m, key, params)
	if err != nil {
		t.Fatal(err)
	}
	m.Header = clone(m.Header)
	for name, value := range fields {
		m.Header[name] = []string{value}
	}
	return m
}

// clone copies a header so that a change to the copy leaves the original.
func clone(h map[string][]string) map[string][]string {
	out := maps.Clone(h)
	if out == nil {
		out = map[string][]string{}
	}
	for name, lines := range out {
		out[name] = slices.Clone(lines)
	}
	return out
}

// receive reads and verifies.
func receive(p Profile, m Message, key *jwk.PrivateKey, now time.Time) error {
	s, err := Read(p, m)
	if err != nil {
		return err
	}
	return s.Verify(m, key.Public().Public, now, window)
}

func code(err error) Code {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return "foreign error"
	}
	return ""
}
