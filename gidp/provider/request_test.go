package provider_test

import (
	"strings"
	"testing"

	"sayso/gidp/provider"
	"sayso/gidp/wire"
)

const key = `{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`

func TestReadQuery(t *testing.T) {
	o := string(encode(t, projection(1, "munich")))
	for body, want := range map[string]int{
		`{"key":` + key + `,"projection":` + o + `}`: 50, `{"key":` + key + `,"projection":` + o + `,"limit":7,"cursor":"c","attributes":{"stage":["seed"]}}`: 7,
		`{"key":` + key + `,"projection":` + o + `,"limit":99}`: 50,
	} {
		q, err := provider.ReadQuery([]byte(body))
		if err != nil || q.Limit != want || q.Projection.Geographies[0] != "munich" || string(q.Key) != key {
			t.Errorf("%.60s…: %+v, %v", body, q, err)
		}
	}
	for name, body := range map[string]string{
		"empty": ``, "no object": `[]`, "no key": `{"projection":` + o + `}`, "a key that is none": `{"key":"k","projection":` + o + `}`, "no projection": `{"key":` + key + `}`,
		"null projection": `{"key":` + key + `,"projection":null}`, "unknown member": `{"key":` + key + `,"projection":` + o + `,"all":true}`, "limit 0": `{"key":` + key + `,"projection":` + o + `,"limit":0}`,
		"limit a half": `{"key":` + key + `,"projection":` + o + `,"limit":0.5}`, "twice": `{"key":` + key + `,"key":` + key + `,"projection":` + o + `}`, "trailing": `{"key":` + key + `,"projection":` + o + `}{}`,
		"another object": `{"key":` + key + `,"projection":{"type":"SessionClose","version":"gidp/0.1","session_id":"s","reason":"unspecified","expires_at":"2030-01-01T00:00:00Z"}}`,
		"member inside":  `{"key":` + key + `,"projection":` + strings.Replace(o, `{`, `{"organisation":"acme",`, 1) + `}`,
		"long cursor":    `{"key":` + key + `,"projection":` + o + `,"cursor":"` + strings.Repeat("c", 129) + `"}`, "too large": `{"key":` + key + strings.Repeat(" ", provider.MaxBody) + `,"projection":` + o + `}`,
	} {
		if q, err := provider.ReadQuery([]byte(body)); code(t, err) != provider.CodeMalformed {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}

func TestReadPublication(t *testing.T) {
	o := string(encode(t, projection(1, "munich")))
	p, err := provider.ReadPublication([]byte(`{"key":` + key + `,"projection":` + o + `,"attributes":{"stage":["seed"]},"hierarchies":{"geography":"geo-1"}}`))
	if err != nil || p.Attributes["stage"][0] != "seed" || p.Hierarchies["geography"] != "geo-1" || p.Projection.Geographies[0] != "munich" {
		t.Fatalf("%+v, %v", p, err)
	}
	for name, body := range map[string]string{
		"a limit": `{"key":` + key + `,"projection":` + o + `,"limit":1}`, "no key": `{"projection":` + o + `}`, "a label that is a number": `{"key":` + key + `,"projection":` + o + `,"attributes":{"stage":[1]}}`,
	} {
		if _, err := provider.ReadPublication([]byte(body)); code(t, err) != provider.CodeMalformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is read can be asked: a query that passes the reader is answered or refused by a rule, never by a panic, and no refusal repeats what was sent.
func FuzzReadQuery(f *testing.F) {
	o := string(encode(f, projection(1, "munich")))
	f.Add([]byte(`{"key":` + key + `,"projection":` + o + `,"limit":3,"attributes":{"stage":["seed"]}}`))
	p := open(f, free(config(f)))
	for i := range 5 {
		publish(f, p, i, projection(i, "munich"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if pub, err := provider.ReadPublication(body); err == nil {
			if row, err := p.Publish(start, caller(77), pub); err == nil && (row.Endpoint == "" || len(row.Labels) == 0) {
				t.Fatalf("accepted %+v", row)
			}
		}
		q, err := provider.ReadQuery(body)
		if err != nil {
			if code(t, err) != provider.CodeMalformed {
				t.Fatal(err)
			}
			return
		}
		if q.Limit < 1 || q.Limit > provider.MaxLimit || q.Projection.Type() != wire.TypeDiscoveryProjection {
			t.Fatalf("read %+v", q)
		}
		page, err := p.Candidates(start, caller(-1), q)
		switch code(t, err) {
		case "", provider.CodeRefused, provider.CodeBroad, provider.CodeStale:
		default:
			t.Fatal(err)
		}
		if len(page.Candidates) > q.Limit {
			t.Fatalf("%d candidates of %d", len(page.Candidates), q.Limit)
		}
	})
}
