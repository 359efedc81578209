package app_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"sayso/business/bundle"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

func importInto(t *testing.T, w *apptest.World, in app.ImportInput) (*app.ImportResult, string) {
	t.Helper()
	result, err := w.Registry.Import(t.Context(), apptest.Operator(t, "ops"), "shop", in)
	return result, code(t, err)
}

func TestImportWritesWhatChanged(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	w.Publisher(t, "shop")
	step := func(name string, in app.ImportInput, written, removed int, generation uint64, unchanged bool) {
		t.Helper()
		result, refused := importInto(t, w, in)
		if refused != "" || result.Written != written || result.Removed != removed || result.Generation != generation || result.Unchanged != unchanged {
			t.Errorf("%s: %q %+v", name, refused, result)
		}
	}
	a, b, c := line("a", "A"), line("b", "B"), line("c", "C")
	step("first", app.ImportInput{Bundle: records(a, b)}, 2, 0, 2, false)
	hash := publication(t, w.Registry, "shop").State
	step("same again", app.ImportInput{Bundle: records(a, b)}, 0, 0, 2, true)
	step("in another order", app.ImportInput{Bundle: records(b, a)}, 0, 0, 2, true)
	if now := publication(t, w.Registry, "shop").State; now != hash {
		t.Errorf("content_hash unchanged creates no generation: %+v, %+v", hash, now)
	}
	step("merge", app.ImportInput{Bundle: records(line("b", "B2"), c), Mode: app.ModeMerge}, 2, 0, 3, false)
	step("replace", app.ImportInput{Bundle: records(b, c)}, 1, 1, 4, false)
	step("back", app.ImportInput{Bundle: records(a, b)}, 1, 1, 5, false)
	if now := publication(t, w.Registry, "shop").State; now.ContentHash != hash.ContentHash {
		t.Errorf("the same content has two hashes: %+v, %+v", hash, now)
	}
	step("literals are content", app.ImportInput{Bundle: records(
		`{"id":"a","type":"service","title":"A","attributes":{"n":50.0}}`, b)}, 1, 0, 6, false)
	step("literals are content", app.ImportInput{Bundle: records(
		`{"id":"a","type":"service","title":"A","attributes":{"n":50}}`, b)}, 1, 0, 7, false)
	page, err := w.Registry.RecordPage(t.Context(), "shop", "", "", "", 10)
	if err != nil || len(page) != 2 || string(page[0].Attributes) != `{"n":50}` {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestImportRefusesAsAWhole(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	before := publication(t, w.Registry, "shop")
	result, refused := importInto(t, w, app.ImportInput{Bundle: records(line("a", "A"), `{"id":"b","type":"service"}`, line("c", "C"), line("a", "again"))})
	if refused != "invalid_bundle" || result.Skipped != 2 || len(result.Problems) < 2 {
		t.Fatalf("%q %+v", refused, result)
	}
	for _, p := range result.Problems {
		if p.File == "" || p.Rule == "" || p.Message == "" || p.Next == "" || p.Row == 0 {
			t.Errorf("a problem without its place or rule: %+v", p)
		}
	}
	if now := publication(t, w.Registry, "shop"); now.Revision != before.Revision {
		t.Error("a refused import moved the revision")
	}
	in := app.ImportInput{Bundle: records(line("a", "A"), `{"id":"b","type":"service"}`, line("c", "C")), SkipInvalid: true}
	result, refused = importInto(t, w, in)
	if refused != "" || result.Written != 2 || result.Skipped != 1 || !publication(t, w.Registry, "shop").Incomplete {
		t.Errorf("skip-invalid: %q %+v", refused, result)
	}
	if _, refused = importInto(t, w, app.ImportInput{Bundle: records(line("d", "D")), Mode: app.ModeMerge}); refused != "" || !publication(t, w.Registry, "shop").Incomplete {
		t.Error("a merge makes the evidence complete")
	}
	if _, refused = importInto(t, w, app.ImportInput{Bundle: records(line("d", "D"))}); refused != "" || publication(t, w.Registry, "shop").Incomplete {
		t.Error("a complete replace leaves the evidence incomplete")
	}
	// A file that may not have been read to its end is never committed in part: replacing would remove what was not read.
	for name, lines := range map[string][]string{
		"cut off":         {line("a", "A"), `{"id":"b","type":"serv`},
		"other publisher": {`{"_meta":{"publisher":"other"}}`, line("a", "A")},
	} {
		if _, refused = importInto(t, w, app.ImportInput{Bundle: records(lines...), SkipInvalid: true}); refused != "invalid_bundle" {
			t.Errorf("%s: %q", name, refused)
		}
	}
	if p := publication(t, w.Registry, "shop"); p.Types[0].Count != 1 {
		t.Errorf("records after refused imports: %+v", p.Types)
	}
}

func TestImportDryRun(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	_, refused := importInto(t, w, app.ImportInput{Bundle: records(line("a", "A"), line("b", "B"))})
	if refused != "" {
		t.Fatal(refused)
	}
	before := publication(t, w.Registry, "shop").Revision
	progress := []int{}
	result, refused := importInto(t, w, app.ImportInput{Bundle: records(line("a", "A2"), line("c", "C")), DryRun: true, Progress: func(n int) { progress = append(progress, n) }})
	if refused != "" || result.Written != 2 || result.Removed != 1 || !result.DryRun || publication(t, w.Registry, "shop").Revision != before {
		t.Errorf("%q %+v", refused, result)
	}
	if len(progress) == 0 || progress[len(progress)-1] != 2 {
		t.Errorf("progress %v", progress)
	}
}

func TestImportQuota(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	_, err := w.Registry.SetQuota(t.Context(), apptest.Operator(t, "ops"), "shop", app.Quota{Records: 2}, "")
	must(t, err)
	if _, refused := importInto(t, w, app.ImportInput{Bundle: records(line("a", "A"), line("b", "B"))}); refused != "" {
		t.Fatal(refused)
	}
	for _, dry := range []bool{true, false} {
		if _, refused := importInto(t, w, app.ImportInput{Bundle: records(line("c", "C")), Mode: app.ModeMerge, DryRun: dry}); refused != "record_quota" {
			t.Errorf("dry %v: %q", dry, refused)
		}
	}
	if _, refused := importInto(t, w, app.ImportInput{Bundle: records(line("c", "C"), line("a", "A"))}); refused != "" {
		t.Errorf("replace within the quota: %q", refused)
	}
	for _, q := range []app.Quota{{Records: -1}, {Records: bundle.MaxRecords + 1}, {Tokens: -1}} {
		_, err := w.Registry.SetQuota(t.Context(), apptest.Operator(t, "ops"), "shop", q, "")
		wantCode(t, fmt.Sprint(q), err, "invalid_quota")
	}
}

func folder(files map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func TestImportOfAWholeBundle(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	b, err := app.OpenBundle(folder(map[string]string{
		"publisher.json": `{"display_name":"Shop","locations":[{"name":"Leeds","primary":true,"locality":"Leeds","country_code":"GB"}]}`,
		"schema.json":    `{"types":{"service":{"words":{"en":["service"]}}}}`,
		"calendar.json":  `{"public_holidays":["2026-12-25"],"school_holidays":[]}`,
		"records.csv":    "id,type,title\na,service,A\n",
	}))
	must(t, err)
	result, refused := importInto(t, w, app.ImportInput{Bundle: b})
	p := publication(t, w.Registry, "shop")
	if refused != "" || result.Generation != 2 || p.Schema == nil || p.Calendar == nil || p.Base() != "/gb/leeds/business/shop" {
		t.Errorf("%q %+v %+v", refused, result, p)
	}
	bad, err := app.OpenBundle(folder(map[string]string{"publisher.json": `{}`, "schema.json": `{"x":1}`, "calendar.json": `[]`, "records.jsonl": line("z", "Z")}))
	must(t, err)
	result, refused = importInto(t, w, app.ImportInput{Bundle: bad, SkipInvalid: true})
	files := map[string]bool{}
	for _, problem := range result.Problems {
		files[problem.File] = true
	}
	if refused != "invalid_bundle" || !files["publisher.json"] || !files["schema.json"] || !files["calendar.json"] {
		t.Errorf("%q %+v", refused, result)
	}
	_, err = app.OpenBundle(folder(map[string]string{"records.csv": "", "records.jsonl": ""}))
	wantCode(t, "two files", err, "two_record_files")
	_, err = app.OpenBundle(folder(nil))
	wantCode(t, "nothing", err, "empty_bundle")
	_, err = app.OpenRecords(folder(map[string]string{"x.xml": ""}), "x.xml")
	wantCode(t, "format", err, "unknown_format")
	if _, refused = importInto(t, w, app.ImportInput{Bundle: b, Mode: "overwrite"}); refused != "invalid_mode" {
		t.Errorf("mode: %q", refused)
	}
}

func TestImportOfJSONLD(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	text := `{"@context":"https://schema.org","@type":"Store","name":"Corner Shop","address":{"@type":"PostalAddress","addressLocality":"Leeds","addressCountry":"GB"},
		"hasOfferCatalog":{"@type":"OfferCatalog","itemListElement":[{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A"}}]}}`
	b, err := app.OpenRecords(folder(map[string]string{"shop.jsonld": text}), "shop.jsonld")
	must(t, err)
	result, refused := importInto(t, w, app.ImportInput{Bundle: b})
	p := publication(t, w.Registry, "shop")
	if refused != "" || result.Read != 1 || p.Profile.DisplayName != "Corner Shop" {
		t.Errorf("%q %+v %+v", refused, result, p.Profile)
	}
	b, err = app.OpenRecords(folder(map[string]string{"shop.jsonld": strings.Replace(text, `"name":"Corner`, `"openingHours":"Mon: 10-9","name":"Corner`, 1)}), "shop.jsonld")
	must(t, err)
	if result, refused = importInto(t, w, app.ImportInput{Bundle: b, SkipInvalid: true}); refused != "invalid_bundle" {
		t.Errorf("a profile that is wrong: %q %+v", refused, result)
	}
}

func TestSetDocuments(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	receipt, _, err := r.SetProfile(ctx, ops, "shop", []byte(`{"display_name":"New"}`), "")
	if err != nil || receipt.Generation != 2 || publication(t, r, "shop").Profile.DisplayName != "New" {
		t.Errorf("%+v, %v", receipt, err)
	}
	_, problems, err := r.SetProfile(ctx, ops, "shop", []byte(`{"website":"x"}`), "")
	if code(t, err) != "invalid_profile" || len(problems) == 0 {
		t.Errorf("%v %v", problems, err)
	}
	receipt, _, err = r.SetLocations(ctx, ops, "shop", []byte(`[{"name":"Leeds","primary":true,"locality":"Leeds","country_code":"GB"}]`), "")
	if err != nil || receipt.Generation != 3 {
		t.Errorf("%+v, %v", receipt, err)
	}
	for _, bad := range []string{`{}`, `[`, `[],"display_name":"x"`, `[]} {`, `"x"`} {
		_, _, err = r.SetLocations(ctx, ops, "shop", []byte(bad), "")
		if code(t, err) == "" {
			t.Errorf("locations %s taken", bad)
		}
	}
	if p := publication(t, r, "shop").Profile; p.DisplayName != "New" || len(p.Locations) != 1 {
		t.Errorf("%+v", p)
	}
	_, err = r.SetSchema(ctx, ops, "shop", []byte(`{"unknown":1}`), "")
	wantCode(t, "schema", err, "invalid_schema")
	_, err = r.SetCalendar(ctx, ops, "shop", []byte(`{"public_holidays":["2026-02-30"]}`), "")
	wantCode(t, "calendar", err, "invalid_calendar")
	receipt, err = r.SetCalendar(ctx, ops, "shop", []byte(`{"public_holidays":["2026-12-25"]}`), "")
	if err != nil || receipt.Generation != 4 {
		t.Errorf("%+v, %v", receipt, err)
	}
	receipt, err = r.SetCalendar(ctx, ops, "shop", nil, "")
	if err != nil || receipt.Generation != 5 || publication(t, r, "shop").Calendar != nil {
		t.Errorf("%+v, %v", receipt, err)
	}
	problems, err = r.Lint(ctx, ops, "shop")
	if err != nil || len(problems) == 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}

// What a publisher exports imports again and changes nothing; a whole bundle whose profile moves the records' addresses may hold the new addresses.
func TestAnExportImportsAgain(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	profile := `{"display_name":"Shop","locations":[{"name":"Leeds","primary":true,"locality":"Leeds","country_code":"GB"}]}`
	b, err := app.OpenBundle(folder(map[string]string{
		"publisher.json": profile, "records.jsonl": line("a", "A") + "\n" + `{"id":"b/ü","type":"service","title":"B","attributes":{"n":1e3,"deep":{"x":[-0]}},"content":"<b>"}`,
	}))
	must(t, err)
	_, refused := importInto(t, w, app.ImportInput{Bundle: b})
	if refused != "" {
		t.Fatal(refused)
	}
	dump := string(public(t, w.Registry, "shop")["dump"])
	result, refused := importInto(t, w, app.ImportInput{Bundle: records(dump)})
	if refused != "" || !result.Unchanged || result.Read != 2 || result.Written != 0 {
		t.Errorf("%q %+v", refused, result)
	}
	fresh := apptest.NewWorld(t)
	fresh.Publisher(t, "shop")
	whole, err := app.OpenBundle(folder(map[string]string{"publisher.json": profile, "records.jsonl": dump}))
	must(t, err)
	if result, refused = importInto(t, fresh, app.ImportInput{Bundle: whole}); refused != "" {
		t.Fatalf("%q %+v", refused, result)
	}
	if a, b := publication(t, w.Registry, "shop").State.ContentHash, publication(t, fresh.Registry, "shop").State.ContentHash; a != b {
		t.Errorf("restored content has another hash: %s, %s", a, b)
	}
}
