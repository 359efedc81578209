package bizcheck_test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"sayso/business/bizcheck"
)

func TestLinkedData(t *testing.T) {
	for page, want := range map[string][]string{
		`<script type="application/ld+json">{"name":"a"}</script>`:                              {"a"},
		"<SCRIPT nonce=x TYPE=application/ld+json >\n {\"name\":\"a\"} \n</Script>":             {"a"},
		`<script type='application/ld+json'>[{"name":"a"},{"name":"b"}]</script>`:               {"a", "b"},
		`<script type="application/ld+json">{"name":"","@graph":[{"name":"b"}]}</script>`:       {"", "b"},
		`<script type="application/ld+json">{"name":"\u003c/script>"}</script>`:                 {"</script>"},
		`<script>{"name":"a"}</script><script type="application/ld+json">{"name":"b"}</script>`: {"b"},
		`<script type="application/ld+json">{"name":"a","name":"b"}</script>`:                   nil,
		`<script type="application/ld+json">{"name":"a"}`:                                       nil,
		`<script type="application/ld+jsonp">{"name":"a"}</script>`:                             nil,
		`<script data-type="application/ld+json" type="text/javascript">{"a":1}</script>`:       nil,
		"": nil,
	} {
		if got := bizcheck.LinkedNames([]byte(page)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

func FuzzLinkedData(f *testing.F) {
	f.Add([]byte(`<script type="application/ld+json">[{"name":"a"}]</script>`))
	f.Fuzz(func(t *testing.T, page []byte) { bizcheck.LinkedNames(page) })
}

// The walk over a text finds the scalars that another reader finds.
func FuzzScalars(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\"]",{"b/~":null}, [ ] ],"c":{},"d":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := bizcheck.Scalars(text)
		if !ok {
			return
		}
		var want int
		var inObject []bool // whether the next token at each level is a name
		name := false
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			d.UseNumber()
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			delim, isDelim := token.(json.Delim)
			switch {
			case isDelim && (delim == '{' || delim == '['):
				inObject = append(inObject, delim == '{')
				name = delim == '{'
				continue
			case isDelim:
				inObject = inObject[:len(inObject)-1]
			case name:
				name = false
				continue
			default:
				want++
			}
			name = len(inObject) > 0 && inObject[len(inObject)-1]
		}
		if len(got) != want {
			t.Errorf("%d scalars, another reader finds %d: %q", len(got), want, got)
		}
	})
}
