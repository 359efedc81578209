package server_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"sayso/internal/app"
	"sayso/internal/server"
)

// file is one entry of an archive.
type file struct {
	name, text string
	kind       byte
	pax        map[string]string
}

func archive(t testing.TB, files ...file) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: f.kind, Mode: 0o644, Size: int64(len(f.text)), PAXRecords: f.pax}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		} else {
			h.Size, h.Linkname = 0, "records.jsonl"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			io.WriteString(w, f.text)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestImportForms(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	token := r.owner("shop", "import")
	for _, c := range []struct {
		name, query, kind, body string
		read                    float64
	}{
		{"JSONL", "", "application/x-ndjson; charset=utf-8", oneRecord, 1},
		{"CSV", "?mode=merge", "text/csv", "type,id,title,updated_at\nservice,b,B,2026-01-02T03:04:05Z\n", 1},
		{"JSON-LD", "?mode=merge", "application/ld+json", `{"@context":"https://schema.org","@type":"LocalBusiness","name":"Shop","hasOfferCatalog":{"@type":"OfferCatalog","itemListElement":[{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"c","name":"C"}}]}}`, 1},
		{"folder", "", "application/x-tar", archive(t, file{name: "./", kind: tar.TypeDir}, file{name: "./records.jsonl", text: oneRecord}), 1},
		{"bundle", "", "application/x-tar", archive(t, file{name: "records.jsonl", text: oneRecord + strings.Replace(oneRecord, `"a"`, `"z"`, 1)}, file{name: "publisher.json", text: `{"display_name":"From a bundle"}`}), 2},
		{"dry run", "?dry_run=true", "application/x-ndjson", "", 0},
	} {
		a := r.admin(request{method: "POST", path: "/publishers/shop/import" + c.query, token: token, kind: c.kind, body: c.body})
		if a.status != 200 || a.value["read"] != c.read {
			t.Errorf("%s: %d %s", c.name, a.status, a.text)
		}
	}
	p, err := r.Registry.Publication(t.Context(), "shop")
	if err != nil || p.Profile.DisplayName != "From a bundle" || len(p.Types) != 1 || p.Types[0].Count != 2 {
		t.Errorf("published: %+v %v", p, err)
	}
	a := r.admin(request{method: "POST", path: "/publishers/shop/import", token: token, kind: "application/x-ndjson", body: oneRecord + "{}\n"})
	if problems, _ := a.value["problems"].([]any); a.status != 400 || a.code() != "invalid_bundle" || len(problems) == 0 {
		t.Errorf("a bad row: %d %s", a.status, a.text)
	}
	a = r.must(request{method: "POST", path: "/publishers/shop/import?skip_invalid=true", token: token, kind: "application/x-ndjson", body: oneRecord + "{}\n"})
	if a.value["skipped"] != float64(1) || a.value["written"] != float64(0) {
		t.Errorf("skipped: %s", a.text)
	}
}

// An archive that is not exactly a bundle is refused as a whole.
func TestImportRefusesArchives(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	token, before := r.owner("shop", "import"), ""
	before = r.state("shop")
	good := archive(t, file{name: "records.jsonl", text: oneRecord})
	for name, body := range map[string]string{
		"path":            archive(t, file{name: "../records.jsonl", text: oneRecord}),
		"folder":          archive(t, file{name: "x/records.jsonl", text: oneRecord}),
		"twice by a dot":  archive(t, file{name: "records.jsonl", text: oneRecord}, file{name: "./records.jsonl", text: oneRecord}),
		"two dots":        archive(t, file{name: "././records.jsonl", text: oneRecord}),
		"absolute":        archive(t, file{name: "/records.jsonl", text: oneRecord}),
		"another name":    archive(t, file{name: "records.jsonl", text: oneRecord}, file{name: "readme.md", text: "x"}),
		"another case":    archive(t, file{name: "Records.jsonl", text: oneRecord}),
		"symbolic link":   archive(t, file{name: "records.jsonl", kind: tar.TypeSymlink}),
		"hard link":       archive(t, file{name: "publisher.json", kind: tar.TypeLink}),
		"device":          archive(t, file{name: "records.jsonl", kind: tar.TypeChar}),
		"directory":       archive(t, file{name: "records.jsonl", kind: tar.TypeDir}),
		"twice":           archive(t, file{name: "records.jsonl", text: oneRecord}, file{name: "records.jsonl", text: oneRecord}),
		"two forms":       archive(t, file{name: "records.jsonl", text: oneRecord}, file{name: "records.csv", text: "id\n"}),
		"nothing":         archive(t),
		"no archive":      oneRecord,
		"cut in a file":   good[:700],
		"cut at the end":  good[:1024],
		"half an end":     good[:1536],
		"something after": good + "x",
		"two archives":    good + good,
		"large document":  archive(t, file{name: "publisher.json", text: `{"display_name":"` + strings.Repeat("x", 5<<20) + `"}`}),
	} {
		a := r.admin(request{method: "POST", path: "/publishers/shop/import", token: token, kind: "application/x-tar", body: body})
		if a.status != 400 || a.value["message"] == "" {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	for _, kind := range []string{"application/gzip", "application/json", "multipart/form-data", "application/x-tar; charset=utf-16"} {
		if a := r.admin(request{method: "POST", path: "/publishers/shop/import", token: token, kind: kind, body: good}); a.status != 415 {
			t.Errorf("%s: %d %s", kind, a.status, a.text)
		}
	}
	if after := r.state("shop"); after != before {
		t.Errorf("changed from\n%s\nto\n%s", before, after)
	}
	r.must(request{method: "POST", path: "/publishers/shop/import", token: token, kind: "application/x-tar", body: good})
}

// A client that goes away in the middle of a file commits nothing of it, and one publisher has one import at a time.
func TestImportBreaksOff(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	token := r.owner("shop", "import")
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.private, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /api/v1/publishers/shop/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n%s", token, oneRecord)
	second := request{method: "POST", path: "/publishers/shop/import", token: token, kind: "text/csv", body: "type,id,title,updated_at\nservice,b,B,2026-01-02T03:04:05Z\n"}
	dry := second
	dry.path += "?dry_run=true"
	eventually(t, "a second import is refused", func() bool {
		a := r.admin(dry)
		return a.status == 429 && a.code() == "import_running" && a.header.Get("Retry-After") != ""
	})
	conn.Close()
	eventually(t, "the first one ends", func() bool { return r.admin(second).status == 200 })
	p, err := r.Registry.Publication(t.Context(), "shop")
	if err != nil || len(p.Types) != 1 || p.Types[0].Count != 1 || p.State.Generation != 2 {
		t.Errorf("%+v %v", p, err)
	}
}

// An import of more than one step of the deadline is read to its end, and one beyond the bound is cut.
func TestImportIsBounded(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	token := r.owner("shop", "import")
	var lines strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&lines, `{"id":"r%d","type":"service","title":"A service with a longer name, number %d","summary":"%s","updated_at":"2026-01-02T03:04:05Z"}`+"\n", i, i, strings.Repeat("text ", 40))
	}
	a := r.must(request{method: "POST", path: "/publishers/shop/import", token: token, kind: "application/x-ndjson", body: lines.String()})
	if a.value["written"] != float64(6000) {
		t.Errorf("%s", a.text)
	}
	before := r.state("shop")
	for _, kind := range []string{"application/x-ndjson", "text/csv", "application/ld+json", "application/x-tar"} {
		q, err := http.NewRequest(http.MethodPost, r.private+"/api/v1/publishers/shop/import", io.LimitReader(zeros{}, 257<<20))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
		q.Header.Set("Content-Type", kind)
		// Whoever is cut off in the middle of sending may not see why.
		if answer, err := http.DefaultClient.Do(q); err == nil {
			if answer.StatusCode != 400 && answer.StatusCode != 413 {
				t.Errorf("%s: %s", kind, answer.Status)
			}
			answer.Body.Close()
		}
	}
	if after := r.state("shop"); after != before {
		t.Error("a file beyond the bound changed something")
	}
}

// FuzzBundle holds the reader of archives to its promise: what it takes is a bundle of known names, each at most once.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(archive(f, file{name: "records.jsonl", text: oneRecord})))
	f.Add([]byte(archive(f, file{name: "publisher.json", text: "{}"}, file{name: "records.csv", text: "id\n"})))
	f.Add([]byte(archive(f, file{name: "records.jsonl", kind: tar.TypeSymlink})))
	f.Add([]byte(oneRecord))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := server.Unpack(bytes.NewReader(data))
		if err != nil {
			return
		}
		known := fstest.MapFS{}
		total := 0
		for name, text := range files {
			known[name] = &fstest.MapFile{Data: text}
			total += len(text)
		}
		if total > len(data) {
			t.Errorf("%d bytes became %d", len(data), total)
		}
		if bundle, err := app.OpenBundle(known); err == nil && bundle == nil {
			t.Error("neither a bundle nor a refusal")
		}
	})
}
