package bundle_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
)

func TestCSVRules(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"minimal", "type,id,title\nservice,a,A\n", ""},
		{"byte order mark, CRLF", "\ufefftype,id,title\r\nservice,a,A\r\n", ""},
		{"all columns", strings.Join(bundle.Columns, ",") + ",attr.note,stock.harbour,available.northgate\nservice,a,A,s,b|c,1,2,3,on_request,GBP,30,2026-01-02T03:04:05Z,2026-01-02T03:04:05Z,c,n,4,true\n", ""},
		{"empty file", "", "XB-03"},
		{"semicolons", "type;id;title\nservice;a;A\n", "XB-03"},
		{"tabs", "type\tid\ttitle\nservice\ta\tA\n", "XB-03"},
		{"no id column", "type,title\nservice,A\n", "XB-03 id"},
		{"unknown column", "type,id,title,colour\nservice,a,A,red\n", "XB-03 colour"},
		{"column twice", "type,id,title,title\nservice,a,A,B\n", "XB-03 title"},
		{"two columns for one attribute", "type,id,title,price,attr.price\nservice,a,A,1,2\n", "XB-03 attr.price"},
		{"unknown location", "type,id,title,stock.moon\nservice,a,A,1\n", "XB-15 stock.moon"},
		{"scoped attribute in one cell", "type,id,title,attr.stock\nservice,a,A,1\n", "XB-15 attr.stock"},
		{"too few cells", "type,id,title\nservice,a\n", "XB-01"},
		{"open quote", "type,id,title\nservice,a,\"A\n", "XB-01"},
		{"bare quote", "type,id,title\nservice,a,A\"B\nservice,b,B\n", "XB-01"},
		{"German number", "type,id,title,price\nservice,a,A,\"1.234,50\"\n", "XB-12 price"},
		{"grouped number", "type,id,title,price\nservice,a,A,\"1,234\"\n", "XB-12 price"},
		{"currency sign", "type,id,title,price\nservice,a,A,£30\n", "XB-12 price"},
		{"space", "type,id,title,price\nservice,a,A, 30\n", "XB-12 price"},
		{"formula as number", "type,id,title,price\nservice,a,A,=1+1\n", "XB-12 price"},
		{"formula as text", "type,id,title,attr.note\nservice,a,=1+1,\"=HYPERLINK(\"\"x\"\")\"\n", ""},
		{"negative price", "type,id,title,price\nservice,a,A,-1\n", "XB-12 price"},
		{"duration with unit", "type,id,title,duration\nservice,a,A,30 min\n", "XB-12 duration"},
		{"fraction of a count", "type,id,title,stock.harbour\nservice,a,A,1.5\n", "XB-12 stock.harbour"},
		{"yes", "type,id,title,attr.balcony\nservice,a,A,yes\n", "XB-13 attr.balcony"},
		{"TRUE", "type,id,title,available.harbour\nservice,a,A,TRUE\n", "XB-13 available.harbour"},
		{"1", "type,id,title,available.harbour\nservice,a,A,1\n", "XB-13 available.harbour"},
		{"Latin-1 in the header", "type,id,title,attr.caf\xe9\nservice,a,A,x\n", "XB-01"},
		{"Latin-1", "type,id,title\nservice,a,caf\xe9\n", "XB-01 title, XB-05 title"},
		{"duplicate", "type,id,title\nservice,a,A\nservice,a,A\n", "XB-08 id"},
		{"currency", "type,id,title,price,currency\nservice,a,A,1,EUR\n", "XB-16 attributes.currency"},
		{"override", "type,id,title\nservice,a,\u202eA\n", "XB-07 title"},
	} {
		_, problems := read(strings.NewReader(c.file), "records.csv", options(t))
		if got := rulesOf(problems); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCSVBecomesTheSameRecord(t *testing.T) {
	records, problems := read(strings.NewReader("type,id,title,aliases,price,price_mode,stock.northgate,stock.harbour,available.harbour,attr.balcony,attr.colours,attr.code\n"+
		"product,drill,\"Drill, 18 V\",cordless drill|driver,50.0,,4,0,,false,red|blue,007\n"+
		"product,paint,Paint,,,on_request,,,,,,7\n"), "records.csv", options(t))
	if got := rulesOf(problems); got != "XB-14 attributes.code w" {
		t.Fatal(got)
	}
	if got := string(records[0].Attributes); got != `{"price":50.0,"stock":{"northgate":4,"harbour":0},"balcony":false,"colours":["red","blue"],"code":"007"}` {
		t.Error(got)
	}
	if got := strings.Join(records[0].Aliases, ";"); got != "cordless drill;driver" {
		t.Error(got)
	}
	if got := string(records[1].Attributes); got != `{"price_mode":"on_request","code":7}` {
		t.Error("no price is not stated, never 0: " + got)
	}
}

// A quote that is never closed must not swallow the file.
func TestCSVIsBounded(t *testing.T) {
	n := 0
	endless := &generator{line: func() string {
		if n++; n == 1 {
			return "type,id,title\nservice,a,\""
		}
		return "x,y\n"
	}}
	_, problems := read(endless, "r.csv", options(t))
	if rulesOf(problems) != "XB-02" || n*4 > 3*bundle.MaxLine {
		t.Errorf("%v after %d bytes", problems, n*4)
	}
	wide := "type,id,title\nservice,a,\"" + strings.Repeat("x", bundle.MaxLine-20) + "\"\nservice,b,B\n"
	if records, problems := read(strings.NewReader(wide), "r.csv", options(t)); len(records) != 2 {
		t.Errorf("a row within the limit: %v", problems)
	}
}

func TestWriteCSVIsExact(t *testing.T) {
	o := options(t)
	in, problems := read(strings.NewReader(`{"id":"a","type":"product","title":"A \"quoted\", =1","summary":"two\nlines","aliases":["x","y"],"updated_at":"2026-01-02T03:04:05.5Z","attributes":{"price":50.0,"stock":{"harbour":0},"available":{"northgate":true},"balcony":false,"note":"12","colours":["red","blue"],"currency":"GBP"}}
{"id":"b","type":"service","title":"B","attributes":{"price_mode":"on_request"}}
`), "r.jsonl", o)
	if problems != nil {
		t.Fatal(problems)
	}
	var csv, jsonl bytes.Buffer
	if err := bundle.WriteCSV(&csv, slices.Values(in), o); err != nil {
		t.Fatal(err)
	}
	if err := bundle.WriteJSONL(&jsonl, slices.Values(in)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]*bytes.Buffer{"r.csv": &csv, "r.jsonl": &jsonl} {
		back, problems := read(text, name, o)
		if problems != nil || len(back) != len(in) {
			t.Fatalf("%s: %v", name, problems)
		}
		for i := range in {
			if a, b := canonicalRecord(t, in[i]), canonicalRecord(t, back[i]); a != b {
				t.Errorf("%s: %s, was %s", name, b, a)
			}
		}
	}
	for name, line := range map[string]string{
		"links":           `{` + minimal + `,"links":[{"rel":"requires","type":"service","id":"b"}]}`,
		"bar in an alias": `{` + minimal + `,"aliases":["a|b"]}`,
		"nested":          `{` + minimal + `,"attributes":{"deep":{"a":[1]}}}`,
		"text as number":  `{` + minimal + `,"attributes":{"code":"12"}}`,
		"carriage return": `{` + minimal + `,"summary":"a\r\nb"}`,
	} {
		lossy, _ := read(strings.NewReader(line), "r.jsonl", o)
		if len(lossy) != 1 {
			t.Fatalf("%s: not read", name)
		}
		if err := bundle.WriteCSV(&bytes.Buffer{}, slices.Values(lossy), o); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
}

// canonicalRecord is the hash of what a record states, with the order of its aliases.
func canonicalRecord(t testing.TB, rec *business.Record) string {
	t.Helper()
	var line bytes.Buffer
	if err := bundle.WriteJSONL(&line, slices.Values([]*business.Record{rec})); err != nil {
		t.Fatal(err)
	}
	out, err := business.Canon(line.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
