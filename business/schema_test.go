package business_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// fullSchema uses every member.
const fullSchema = `{"types":{"service":{"words":{"en":["service","treatment"]}},"product":{}},
 "attributes":{
  "price":{"field":"price","kind":"money","currency":"GBP"},
  "price_from":{"field":"price","kind":"money_from","currency":"GBP"},
  "price_mode":{"field":"price","kind":"mode","deferred":["on_request"]},
  "duration":{"field":"duration","kind":"quantity","unit":"min"},
  "stock":{"field":"stock","kind":"count","scoped_by":"location","source":"stream:stock"},
  "available":{"field":"available","kind":"bool","scoped_by":"location"},
  "a/b~c":{"kind":"text"},
  "balcony":{"kind":"bool","words":{"en":["balcony"],"de-AT":["Balkon"]}}},
 "profile":{"parking":{"kind":"bool","words":{"en":["parking","car park"]}}},
 "lists":{
  "payment_methods":{"nouns":{"en":["payment methods"]},"verbs":{"en":["pay","accept"]},"values":["cash",{"id":"amex","words":{"en":["amex","american express"]}}],
   "closed":true,"domain":{"terms":["cash","visa","amex"]}},
  "languages":{"values":[],"domain":{"taxonomy":"languages"}}},
 "streams":[{"key":"stock","subject":"product","scoped_by":"location","kind":"count","unit":"pcs","sla_seconds":60,"max_age_seconds":3600},
  {"key":"queue","subject":null,"kind":"count","sla_seconds":1,"max_age_seconds":1}],
 "category":{"words":{"en":["optician"]}},
 "links_closed":["requires","x-pairs_with"]}`

func TestParseSchema(t *testing.T) {
	s, err := business.ParseSchema([]byte(fullSchema))
	if err != nil {
		t.Fatal(err)
	}
	list := s.Lists["payment_methods"]
	if len(list.Values) != 2 || list.Values[0].ID != "cash" || list.Values[0].Words != nil || list.Values[1].ID != "amex" || len(list.Values[1].Words["en"]) != 2 || !list.Closed {
		t.Errorf("%+v", list)
	}
	if s.Streams[1].Subject != "" || s.Streams[0].MaxAgeSeconds != 3600 || s.Attributes["stock"].Source != "stream:stock" {
		t.Errorf("%+v", s)
	}
	text, err := jcs.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := business.ParseSchema(text)
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("%v\n%s", err, text)
	}
	if empty, err := business.ParseSchema([]byte(" {} ")); err != nil || empty == nil {
		t.Error(err)
	}
}

func TestParseSchemaRefuses(t *testing.T) {
	for _, c := range []struct{ text, pointer, says string }{
		{``, "", "there is no value"},
		{`[]`, "", "object"},
		{`null`, "", "object"},
		{`{"types":{},"types":{}}`, "/types", "stands twice"},
		{`{"typ":{}}`, "/typ", `"typ" is not known`},
		{`{"Types":{}}`, "/Types", `"Types" is not known`},
		{`{"types":{"service":{"word":{}}}}`, "/types/service/word", `"word" is not known`},
		{`{"types":{"service":null}}`, "/types/service", "null"},
		{`{"types":null}`, "/types", "null"},
		{`{"types":{"Service":{}}}`, "/types/Service", "record type"},
		{`{"types":{"s":{"words":{"en":"service"}}}}`, "/types/s/words/en", "an array is expected"},
		{`{"types":{"s":{"words":{"en":[]}}}}`, "/types/s/words/en", "without words"},
		{`{"types":{"s":{"words":{"en":["a",""]}}}}`, "/types/s/words/en/1", "control characters"},
		{`{"types":{"s":{"words":{"en":["a\nb"]}}}}`, "/types/s/words/en/0", "control characters"},
		{`{"types":{"s":{"words":{"en":[null]}}}}`, "/types/s/words/en/0", "null"},
		{`{"types":{"s":{"words":{"en_GB":["a"]}}}}`, "/types/s/words/en_GB", "language tag"},
		{`{"attributes":{"a":{}}}`, "/attributes/a/kind", "is not one of money"},
		{`{"attributes":{"a":{"kind":"Money"}}}`, "/attributes/a/kind", "is not one of money"},
		{`{"attributes":{"a/b":{"kind":"text","x":1}}}`, "/attributes/a~1b/x", `"x" is not known`},
		{`{"attributes":{"a/b~":{"kind":"no"}}}`, "/attributes/a~1b~0/kind", "is not one of"},
		{`{"attributes":{"":{"kind":"text"}}}`, "/attributes/", "name is"},
		{`{"attributes":{"a":{"kind":"text","field":"colour"}}}`, "/attributes/a/field", "is not one of price"},
		{`{"attributes":{"a":{"kind":"money","currency":"gbp"}}}`, "/attributes/a/currency", "capital letters"},
		{`{"attributes":{"a":{"kind":"money","currency":"EURO"}}}`, "/attributes/a/currency", "capital letters"},
		{`{"attributes":{"a":{"kind":"text","currency":"EUR"}}}`, "/attributes/a/currency", "have a currency"},
		{`{"attributes":{"a":{"kind":"money","unit":"EUR"}}}`, "/attributes/a/unit", "has a currency"},
		{`{"attributes":{"a":{"kind":"text","deferred":["x"]}}}`, "/attributes/a/deferred", "only a mode"},
		{`{"attributes":{"a":{"kind":"mode","deferred":[1]}}}`, "/attributes/a/deferred/0", "a string is expected"},
		{`{"attributes":{"a":{"kind":"bool","scoped_by":"branch"}}}`, "/attributes/a/scoped_by", "only location"},
		{`{"attributes":{"a":{"field":"stock","kind":"bool"}}}`, "/attributes/a/kind", "stock is a count"},
		{`{"attributes":{"a":{"field":"available","kind":"text"}}}`, "/attributes/a/kind", "available is a bool"},
		{`{"attributes":{"a":{"kind":"count","source":"stream:x"}}}`, "/attributes/a/source", "declared in streams"},
		{`{"streams":[{"key":"x","kind":"count","sla_seconds":1,"max_age_seconds":1}],"profile":{"a":{"kind":"count","source":"x"}}}`, "/profile/a/source", "declared in streams"},
		{`{"lists":{"l":{}}}`, "/lists/l", "values is required"},
		{`{"lists":{"L":{"values":[]}}}`, "/lists/L", "list's key"},
		{`{"lists":{"l":{"values":[],"closed":true}}}`, "/lists/l/closed", "needs a domain"},
		{`{"lists":{"l":{"values":["b"],"closed":true,"domain":{"terms":["a"]}}}}`, "/lists/l/values/0", "not a term of the domain"},
		{`{"lists":{"l":{"values":[],"domain":{}}}}`, "/lists/l/domain", "either terms or a taxonomy"},
		{`{"lists":{"l":{"values":[],"domain":{"terms":[],"taxonomy":"languages"}}}}`, "/lists/l/domain", "either terms or a taxonomy"},
		{`{"lists":{"l":{"values":[],"domain":{"taxonomy":"sizes"}}}}`, "/lists/l/domain/taxonomy", "is not one of languages"},
		{`{"lists":{"l":{"values":["a","a"]}}}`, "/lists/l/values/1", "stands twice"},
		{`{"lists":{"l":{"values":["a",{"id":"a"}]}}}`, "/lists/l/values/1", "stands twice"},
		{`{"lists":{"l":{"values":[""]}}}`, "/lists/l/values/0", "control characters"},
		{`{"lists":{"l":{"values":[null]}}}`, "/lists/l/values/0", "null"},
		{`{"lists":{"l":{"values":[{"name":"a"}]}}}`, "/lists/l/values/0", `"name" is not known`},
		{`{"lists":{"l":{"values":[5]}}}`, "/lists/l/values/0", "expected"},
		{`{"lists":{"l":{"values":[{"words":{"en":["a"]}}]}}}`, "/lists/l/values/0", "control characters"},
		{`{"streams":[{"key":"X","kind":"count","sla_seconds":1,"max_age_seconds":1}]}`, "/streams/0/key", "stream's key"},
		{`{"streams":[{"key":"x","kind":"list","sla_seconds":1,"max_age_seconds":1}]}`, "/streams/0/kind", "is not one of bool"},
		{`{"streams":[{"key":"x","kind":"count","max_age_seconds":1}]}`, "/streams/0/sla_seconds", "at least 1"},
		{`{"streams":[{"key":"x","kind":"count","sla_seconds":5,"max_age_seconds":4}]}`, "/streams/0/max_age_seconds", "before it is stale"},
		{`{"streams":[{"key":"x","kind":"count","sla_seconds":1.5,"max_age_seconds":4}]}`, "/streams/0/sla_seconds", "number"},
		{`{"streams":[{"key":"x","kind":"count","sla_seconds":1e400,"max_age_seconds":4}]}`, "/streams/0/sla_seconds", "number"},
		{`{"streams":[{"key":"x","subject":"A b","kind":"count","sla_seconds":1,"max_age_seconds":1}]}`, "/streams/0/subject", "record type"},
		{`{"streams":[{"key":"x","kind":"count","unit":null,"sla_seconds":1,"max_age_seconds":1}]}`, "/streams/0/unit", "null"},
		{`{"streams":[{"key":"x","kind":"bool","sla_seconds":1,"max_age_seconds":1},{"key":"x","kind":"bool","sla_seconds":1,"max_age_seconds":1}]}`, "/streams/1/key", "twice"},
		{`{"links_closed":["contains"]}`, "/links_closed/0", "is no relation"},
		{`{"links_closed":["requires","requires"]}`, "/links_closed/1", "stands twice"},
		{`{"category":{"words":{"en":["\u0000"]}}}`, "/category/words/en/0", "control characters"},
	} {
		s, err := business.ParseSchema([]byte(c.text))
		var e *business.SchemaError
		if s != nil || !errors.As(err, &e) {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if e.Pointer != c.pointer || !strings.Contains(e.Detail, c.says) || !strings.HasPrefix(e.Error(), "schema.json") {
			t.Errorf("%s:\n got %q, %q\nwant %q, …%s…", c.text, e.Pointer, e.Detail, c.pointer, c.says)
		}
	}
}

// Errors quote hostile text on one short line.
func TestSchemaErrorIsOneLine(t *testing.T) {
	_, err := business.ParseSchema([]byte(`{"lists":{"` + strings.Repeat(`\u202ex\n`, 5000) + `":{"values":[],"closed":true}}}`))
	if err == nil || strings.ContainsAny(err.Error(), "\n\u202e") || len(err.Error()) > 400 {
		t.Errorf("%v", err)
	}
}

// P6: time grows with the text, whatever its shape. Checking a text may cost some times as much as reading it does, but not the product of two of its
// lengths.
func TestParseSchemaIsLinear(t *testing.T) {
	long := strings.Repeat("k", 1<<19)
	many := func(n int, element func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(element(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"relations":               `{"links_closed":[` + many(60_000, func(i int) string { return `"x-` + strconv.Itoa(i) + `"` }) + `]}`,
		"words below a long name": `{"types":{"` + long + `":{"words":{"en":[` + many(60_000, func(int) string { return `""` }) + `]}}}}`,
		"terms below a long name": `{"lists":{"` + long + `":{"values":[` + many(60_000, func(int) string { return `"a"` }) + `]}}}`,
		"nulls below a long name": `{"attributes":{"` + long + `":{"kind":"mode","deferred":[` + many(60_000, func(int) string { return `null` }) + `]}}}`,
		"languages":               `{"types":{"a":{"words":{` + many(50_000, func(i int) string { return `"en-x` + strconv.Itoa(i) + `":["a"]` }) + `}}}}`,
		"streams": `{"streams":[` + many(20_000, func(i int) string {
			return `{"key":"k` + strconv.Itoa(i) + `","kind":"bool","sla_seconds":1,"max_age_seconds":1}`
		}) + `]}`,
		"unknown below a long name": `{"` + long + `":{` + many(40_000, func(i int) string { return `"` + strconv.Itoa(i) + `":1` }) + `}}`,
	} {
		if len(text) > business.MaxDocument {
			t.Fatalf("%s: %d bytes", name, len(text))
		}
		// Three tries, because the machine may pause in one of them.
		var reading, checking time.Duration
		for range 3 {
			began := time.Now()
			if _, err := business.Canon([]byte(text)); err != nil {
				t.Fatal(err)
			}
			reading = time.Since(began)
			began = time.Now()
			_, _ = business.ParseSchema([]byte(text)) // refused or not, the time is what counts
			if checking = time.Since(began); checking <= 200*reading {
				break
			}
		}
		if checking > 200*reading {
			t.Errorf("%s: checked in %v, read in %v", name, checking, reading)
		}
	}
}

func FuzzParseSchema(f *testing.F) {
	f.Add([]byte(fullSchema))
	f.Add([]byte(`{"lists":{"l":{"values":["a",{"id":"b"}],"domain":{"taxonomy":"languages"}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := business.ParseSchema(data)
		if err != nil {
			if e := (*business.SchemaError)(nil); s != nil || !errors.As(err, &e) || e.Detail == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v %q", s, err)
			}
			return
		}
		text, err := jcs.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := business.ParseSchema(text)
		if err != nil {
			t.Fatalf("%s -> %s: %v", data, text, err)
		}
		text2, err := jcs.Encode(again)
		if err != nil || string(text2) != string(text) {
			t.Fatalf("%s -> %s %v", text, text2, err)
		}
	})
}

// The committed corpus holds what the fuzzer once found worth keeping.
func TestCorpusIsThere(t *testing.T) {
	for _, name := range []string{"FuzzCanon", "FuzzParseSchema", "FuzzParseQuery"} {
		if files, err := filepath.Glob(filepath.Join("testdata", "fuzz", name, "*")); err != nil || len(files) == 0 {
			t.Errorf("no corpus for %s (%v)", name, err)
		}
	}
	if _, err := os.Stat("testdata/members-1.0.txt"); err != nil {
		t.Error(err)
	}
}
