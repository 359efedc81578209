package crash

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/jwk"
)

// judge compares a registry with the journal. pending is the act that was under way, nil when there was none: it may be there or not, and judge returns which.
func judge(t *testing.T, r *app.Registry, keys *app.KeyFiles, store app.Store, history []entry, pending *act) (committed bool) {
	t.Helper()
	ctx := t.Context()
	acts := map[string][]act{}
	for _, e := range history {
		if e.outcome != acknowledged {
			continue
		}
		acts[e.slug] = append(acts[e.slug], e.act)
		if e.revision != uint64(len(acts[e.slug])) {
			t.Fatalf("act %d was acknowledged as revision %d of %s and is number %d", e.number, e.revision, e.slug, len(acts[e.slug]))
		}
		if grown := after(acts[e.slug]).generation > after(acts[e.slug][:e.revision-1]).generation; e.kind == app.OpImport && e.content == map[bool]string{true: same, false: changed}[grown] {
			t.Fatalf("act %d: the content was acknowledged as %s", e.number, e.content)
		}
	}
	heads, err := store.Heads(ctx)
	must(t, err)
	delete(heads, "")
	if pending != nil && heads[pending.slug] == uint64(len(acts[pending.slug]))+1 {
		committed = true
		acts[pending.slug] = append(acts[pending.slug], *pending)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(heads)), slices.Sorted(maps.Keys(acts))) {
		t.Fatalf("there are publishers %v, there should be %v", heads, slices.Sorted(maps.Keys(acts)))
	}
	must(t, store.View(ctx, func(rd app.Reader) error {
		for slug, list := range acts {
			judgePublisher(t, rd, keys, slug, heads[slug], after(list))
		}
		return nil
	}))
	must(t, r.Refresh(ctx))
	for _, slug := range shops {
		judgeDocuments(t, r, keys.Root(), slug, after(acts[slug]))
	}
	for _, check := range r.Doctor(ctx, true) {
		if check.Level == app.LevelFailed {
			t.Fatalf("doctor: %s: %s", check.ID, check.Message)
		}
	}
	return committed
}

func judgePublisher(t *testing.T, rd app.Reader, keys *app.KeyFiles, slug string, head uint64, want *publisher) {
	t.Helper()
	ctx := t.Context()
	row, err := rd.Publisher(ctx, slug)
	must(t, err)
	if n := uint64(len(want.acts)); head != n || row.Revision != n || row.Generation != want.generation || row.Lifecycle != want.lifecycle {
		t.Fatalf("%s: head %d, revision %d, generation %d, %s; the journal has %d acts, generation %d, %s",
			slug, head, row.Revision, row.Generation, row.Lifecycle, n, want.generation, want.lifecycle)
	}
	trail, err := rd.Audit(ctx, slug, 0, len(want.acts)+1)
	must(t, err)
	judgeTrail(t, slug, trail, row, want)
	judgeContent(t, rd, row, want)
	judgeKeys(t, rd, keys, slug, trail, want)
}

// judgeTrail wants one audit row for each act, whose hashes form a chain that ends at the stored one and names as many contents as there are generations.
func judgeTrail(t *testing.T, slug string, trail []app.AuditRow, row *app.PublisherRow, want *publisher) {
	t.Helper()
	if len(trail) != len(want.acts) {
		t.Fatalf("%s: %d audit rows for %d acts", slug, len(trail), len(want.acts))
	}
	hash, generation := "", uint64(0)
	for i, a := range trail {
		if a.Action != string(want.acts[i].kind) || a.OldHash != hash || i > 0 && a.Sequence <= trail[i-1].Sequence {
			t.Fatalf("%s: audit row %d does not fit act %d, %s: %+v", slug, i+1, want.acts[i].number, want.acts[i].kind, a)
		}
		if a.NewHash != a.OldHash {
			generation++
		}
		hash = a.NewHash
	}
	if hash != row.ContentHash || generation != row.Generation {
		t.Fatalf("%s: the audit trail ends at %s, generation %d, the row at %s, %d", slug, hash, generation, row.ContentHash, row.Generation)
	}
}

// judgeContent reads every record, hashes it anew and compares all of it with what the imports held.
func judgeContent(t *testing.T, rd app.Reader, row *app.PublisherRow, want *publisher) {
	t.Helper()
	ctx := t.Context()
	var profile business.Profile
	must(t, business.Decode(row.Profile, &profile))
	leaves, err := business.ProfileLeaves(row.Slug, row.Region, &profile)
	must(t, err)
	titles := map[string]string{}
	for stored, err := range rd.Records(ctx, row.Slug, "", "", "") {
		must(t, err)
		var record business.Record
		must(t, business.Decode(stored.Body, &record))
		leaf, err := business.RecordLeaf(row.Slug, &record)
		must(t, err)
		if leaf != stored.Leaf || record.ID != stored.ID || record.Type != stored.Type {
			t.Fatalf("%s: the row of %s holds another record", row.Slug, stored.ID)
		}
		leaves = append(leaves, leaf)
		titles[record.ID] = record.Title
	}
	if profile.DisplayName != want.name || !maps.Equal(titles, want.records) {
		t.Fatalf("%s: it is called %q and has %d records, the imports leave %q and %d", row.Slug, profile.DisplayName, len(titles), want.name, len(want.records))
	}
	if hash := business.ContentHash(leaves); hash != row.ContentHash {
		t.Fatalf("%s, generation %d: %s is stored, the records give %s", row.Slug, row.Generation, row.ContentHash, hash)
	}
}

// judgeKeys wants the keys that the acts made, each with its private half and a list that fits them.
func judgeKeys(t *testing.T, rd app.Reader, keys *app.KeyFiles, slug string, trail []app.AuditRow, want *publisher) {
	t.Helper()
	ctx := t.Context()
	rows, err := rd.Keys(ctx, slug)
	must(t, err)
	made := map[time.Time]string{}
	revoked := map[string]bool{}
	signing := 0
	for _, k := range rows {
		signer, err := keys.PublisherSigner(slug, k.Entry.Kid)
		if err != nil || jwk.EncodeBase64URL(signer.Public()) != k.Entry.X || k.Entry.Attestation == nil {
			t.Fatalf("%s: key %s has no private half that can be opened, or no attestation: %v", slug, k.Entry.Kid, err)
		}
		if revoked[k.Entry.Kid] = !k.RevokedAt.IsZero(); k.RetiredAt.IsZero() && k.RevokedAt.IsZero() {
			signing++
		}
		made[k.CreatedAt] = k.Entry.Kid
	}
	if len(rows) != want.keys || (signing == 1) != want.signing || signing > 1 {
		t.Fatalf("%s: %d keys, of which %d sign; the acts made %d", slug, len(rows), signing, want.keys)
	}
	list, err := rd.Revocations(ctx, slug)
	must(t, err)
	if len(list) != len(want.revoking) {
		t.Fatalf("%s: %d entries on the list for %d acts", slug, len(list), len(want.revoking))
	}
	n := 0
	for i, a := range want.acts {
		if want.makes[i] && made[trail[i].At] == "" {
			t.Fatalf("%s: act %d, %s, was committed without its key", slug, a.number, a.kind)
		}
		switch a.kind {
		case app.OpRevokeKey:
			if list[n].Kid != trail[i].Target || !revoked[list[n].Kid] {
				t.Fatalf("%s: act %d revoked %s, the list says %+v", slug, a.number, trail[i].Target, list[n])
			}
			delete(revoked, list[n].Kid)
			n++
		case app.OpRevokeEntity:
			if list[n].EntityKey != business.EntityKey("product", fmt.Sprint(a.seed)) {
				t.Fatalf("%s: act %d is not what the list says: %+v", slug, a.number, list[n])
			}
			n++
		}
	}
	for kid, still := range revoked {
		if still {
			t.Fatalf("%s: key %s is revoked and not on the list", slug, kid)
		}
	}
}

// judgeDocuments reads what a stranger reads and verifies it against the pin.
func judgeDocuments(t *testing.T, r *app.Registry, root business.Root, slug string, want *publisher) {
	t.Helper()
	ctx := t.Context()
	fetch := func(d *bizhttp.Document, err error) *business.Fetched {
		t.Helper()
		must(t, err)
		return &business.Fetched{Body: d.Body, At: time.Now()}
	}
	manifest := fetch(r.Manifest(ctx, slug))
	v, err := business.Verify(manifest.Body, business.Evidence{
		Root: &root, RegistryKeys: fetch(r.RegistryKeys(ctx)), PublisherKeys: fetch(r.PublisherKeys(ctx, slug)),
		Revocations: fetch(r.RegistryRevocations(ctx)), PublisherList: fetch(r.PublisherRevocations(ctx, slug)),
		Publisher: slug, At: time.Now(), FutureSkew: business.ReaderSkew,
	})
	must(t, err)
	if v.Usable.Value != "yes" || v.Authority.Value != "current" || v.Revocation.Value != "clean" {
		t.Fatalf("%s: the manifest does not verify: %+v", slug, v)
	}
	if published := bytes.Contains(manifest.Body, []byte(`"published":true`)); published != (want.lifecycle == business.Published) {
		t.Fatalf("%s is %s: %s", slug, want.lifecycle, manifest.Body)
	}
}

// again asks for the act that was under way once more: it must be done once, whether it had been committed or not.
func again(t *testing.T, r *app.Registry, j journal, a act, committed bool) {
	t.Helper()
	receipt, err := a.perform(t.Context(), r)
	if err != nil && (committed || !refused(err)) {
		t.Fatalf("act %d, %s of %s, cannot be asked for again: %v", a.number, a.kind, a.slug, err)
	}
	if receipt != nil && receipt.Repeated != committed {
		t.Fatalf("act %d, %s of %s: repeated %v, committed %v", a.number, a.kind, a.slug, receipt.Repeated, committed)
	}
	must(t, j.end(a, receipt))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
