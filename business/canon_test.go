package business_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sayso/business"
	"sayso/jcs"
	"sayso/vectors"
)

func kindOf(t *testing.T, err error) jcs.Kind {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *jcs.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a *jcs.Error", err)
	}
	return e.Kind
}

// XP-INTEGRITY-005: the language-neutral vectors, C1 to C12 among them.
func TestCanonVectors(t *testing.T) {
	for _, v := range vectors.CanonsXP() {
		got, err := business.Canon(v.Input())
		digest, digestErr := business.Digest(v.Input())
		if v.Class != vectors.Valid {
			if string(kindOf(t, err)) != v.Class || digestErr == nil || got != nil || digest != [32]byte{} {
				t.Errorf("%s: %q %v, want %s", v.Name, got, err, v.Class)
			}
			continue
		}
		if err != nil || string(got) != v.Canonical {
			t.Errorf("%s: %q %v, want %q", v.Name, got, err, v.Canonical)
		}
		if text := base64.RawURLEncoding.EncodeToString(digest[:]); digestErr != nil || text != v.Digest {
			t.Errorf("%s: digest %s %v, want %s", v.Name, text, digestErr, v.Digest)
		}
	}
}

func TestCanonSize(t *testing.T) {
	text := `"` + strings.Repeat("a", business.MaxDocument-2) + `"`
	if _, err := business.Canon([]byte(text)); err != nil {
		t.Error(err)
	}
	if _, err := business.Canon([]byte(text + " ")); kindOf(t, err) != jcs.KindSize {
		t.Errorf("one byte more: %v", err)
	}
	if err := business.Decode([]byte(text+" "), new(string)); kindOf(t, err) != jcs.KindSize {
		t.Errorf("Decode, one byte more: %v", err)
	}
}

func TestAppendCanonKeepsDst(t *testing.T) {
	if got, err := business.AppendCanon([]byte("x"), []byte(`{"b":1,"a":-0}`)); err != nil || string(got) != `x{"a":-0,"b":1}` {
		t.Errorf("%s %v", got, err)
	}
	if got, err := business.AppendCanon([]byte("x"), []byte(`{"b":1,"b":-0}`)); err == nil || string(got) != "x" {
		t.Errorf("%s %v", got, err)
	}
}

func TestMembersKeepOrderAndLiterals(t *testing.T) {
	members, err := business.Members([]byte(`{"b": 50.0 ,"a":{ "x":1 }}`))
	if err != nil || len(members) != 2 || members[0].Name != "b" || string(members[0].Value) != "50.0" || string(members[1].Value) != `{ "x":1 }` {
		t.Errorf("%v %v", members, err)
	}
}

// reference is what encoding/json makes of a text. It is right where no name stands twice and no surrogate is alone.
func reference(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// FuzzCanon: canonical text is a fixed point, has the bytes of the reference writer, and its digest is theirs.
func FuzzCanon(f *testing.F) {
	for _, v := range vectors.CanonsXP() {
		f.Add(v.Input())
	}
	f.Add([]byte(envelope))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := business.Canon(data)
		if (business.Decode(data, new(jcs.Raw)) == nil) != (err == nil) {
			t.Fatalf("Canon says %v, Decode the opposite", err)
		}
		if err != nil {
			if e := (*jcs.Error)(nil); !errors.As(err, &e) || e.Detail == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		want, theirErr := reference(data)
		if theirErr != nil || !bytes.Equal(got, want) {
			t.Fatalf("\n got %q\nwant %q %v", got, want, theirErr)
		}
		again, err := business.Canon(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not a fixed point: %q -> %q %v", got, again, err)
		}
		if digest, err := business.Digest(data); err != nil || digest != sha256.Sum256(got) {
			t.Fatalf("digest %x %v", digest, err)
		}
	})
}

// envelope has the members and the size of a signed answer.
var envelope = `{"protocol_x_version":"1.0","tool":"search","arguments":{"query":"blood test & ECG","limit":5},"result":{"records":[` +
	strings.TrimSuffix(strings.Repeat(`{"id":"svc-114","type":"service","title":"Full blood count","url":"https://registry.example/gb/leeds/business/north-clinic/service/svc-114",`+
		`"publisher":"north-clinic","summary":"Sample taken at the desk, result within two working days. No appointment is needed before noon.",`+
		`"attributes":{"price":43.50,"duration":15,"fasting":false},"aliases":["FBC","complete blood count"],"updated_at":"2026-10-04T09:30:00Z"},`, 8), ",") +
	`]},"coverage":{"status":"resolved","unresolved":[]},"publisher":{"tenant":"north-clinic","display_name":"North Clinic","region":"eu","website_verified":true,` +
	`"trust_tier":"domain_verified","proven_domain":"north-clinic.example","verification_method":"dns_txt","authority_verified_at":"2026-10-01T08:00:00Z"},` +
	`"served_at":"2026-10-09T10:00:00Z","expires_at":"2026-10-09T10:15:00Z","signing_kid":"north-clinic-0a1b2c3d"}`

func BenchmarkCanonEnvelope(b *testing.B) {
	text, dst := []byte(envelope), []byte(nil)
	b.Run("xp", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = business.AppendCanon(dst[:0], text)
		}
	})
	b.Run("jcs", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = jcs.AppendCanonical(dst[:0], text)
		}
	})
	b.Run("reference", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := reference(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// mixed names the uses of one canonical form where only the other belongs: in business/... the writers of RFC 8785 and any second Form, in the rest of the
// module the form of this package. A digest over the wrong form verifies for most texts and fails for the rest.
func mixed(dir string, file *ast.File) []string {
	forbidden := map[string][]string{"sayso/jcs": {"Form"}, "sayso/business": {"Canon", "AppendCanon", "Digest"}}
	switch {
	case dir == "business" || strings.HasPrefix(dir, "business/"):
		forbidden = map[string][]string{"sayso/jcs": {"Canonical", "AppendCanonical", "Form"}}
	case dir == "internal" || strings.HasPrefix(dir, "internal/") || dir == "cmd/sayso":
		forbidden = map[string][]string{"sayso/jcs": {"Form"}} // where both protocols meet
	}
	local := map[string][]string{}
	var out []string
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		as := path.Base(name)
		if i.Name != nil {
			as = i.Name.Name
		}
		if as == "." && forbidden[name] != nil {
			out = append(out, "dot import of "+name)
		}
		local[as] = forbidden[name]
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			for _, name := range local[x.Name] {
				if sel.Sel.Name == name {
					out = append(out, x.Name+"."+name)
				}
			}
		}
		return true
	})
	return out
}

// XP-INTEGRITY-005: nobody signs or hashes over the other protocol's form.
func TestFormsAreNotMixed(t *testing.T) {
	fset := token.NewFileSet()
	root := os.DirFS("..")
	// Who may declare a Form: this package, and two readers of what is never written in it: of JSON-LD files, which are larger than a document of the protocol,
	// and of JSON-RPC messages, in which a number is its tool's to judge.
	readers := []string{"business/bundle/jsonld.go", "internal/mcpserve/message.go"}
	declared := map[string]int{"business/canon.go": 0, readers[0]: 0, readers[1]: 0}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && base != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "jcs") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, use := range mixed(path.Dir(name), file) {
			if _, ok := declared[name]; ok && use == "jcs.Form" {
				declared[name]++
				continue
			}
			t.Errorf("%s uses %s: that canonical form is not the one of this place", name, use)
		}
		if slices.Contains(readers, name) && strings.Contains(string(data), ".Append(") {
			t.Errorf("%s writes with a form that is only for reading", name)
		}
		return nil
	})
	if err != nil || declared["business/canon.go"] != 1 {
		t.Errorf("forms declared %v, want one in canon.go (%v)", declared, err)
	}
}

func TestFormRuleCatchesPlantedUses(t *testing.T) {
	for _, c := range []struct {
		dir, code string
		want      int
	}{
		{"business", `import "sayso/jcs"; var _ = jcs.Canonical`, 1},
		{"business/bizhttp", `import j "sayso/jcs"; var _ = j.AppendCanonical`, 1},
		{"business/bizhttp", `import "sayso/jcs"; var _ = jcs.Form{}`, 1},
		{"business/bizhttp", `import . "sayso/jcs"; var _ = Canonical`, 1},
		{"business/bizhttp", `import "sayso/jcs"; var _ = jcs.Decode`, 0},
		{"facts", `import "sayso/business"; var _ = business.Canon`, 1},
		{"facts/factshttp", `import b "sayso/business"; var _ = b.Digest`, 1},
		{"facts", `import "sayso/jcs"; var _ = jcs.Canonical`, 0},
		{"internal/app", `import ("sayso/jcs"; "sayso/business"); var _, _ = jcs.Canonical, business.Canon`, 0},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+c.code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := mixed(c.dir, file); len(got) != c.want {
			t.Errorf("%s: %s: %v", c.dir, c.code, got)
		}
	}
}
