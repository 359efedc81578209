package xppage

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/internal/web"
	"sayso/jwk"
	"sayso/oracle/tools"
	"sayso/vectors"
)

// question is one line for page.mjs.
type question struct {
	Document  string                     `json:"document"`
	Evidence  [4]*vectors.TamperEvidence `json:"evidence"` // registry keys, publisher keys, registry's list, publisher's list
	Root      string                     `json:"root"`     // what a person pastes
	Publisher string                     `json:"publisher"`
	At        string                     `json:"at"`
	Canon     []byte                     `json:"canon,omitempty"` // only this: bytes to canonicalise
}

// findings are what the page shows. Whether a document answers a call, and whether to act on it, are not its questions.
type findings struct {
	Error      string                 `json:"error,omitempty"`
	Canonical  string                 `json:"canonical,omitempty"`
	Publisher  string                 `json:"publisher,omitempty"`
	Signature  *vectors.TamperFinding `json:"signature,omitempty"`
	Identity   *vectors.TamperFinding `json:"identity,omitempty"`
	Authority  *vectors.TamperFinding `json:"authority,omitempty"`
	Revocation *vectors.TamperFinding `json:"revocation,omitempty"`
	Mirror     *vectors.TamperFinding `json:"mirror,omitempty"`
}

// ask runs the served scripts over the questions.
func ask(t *testing.T, questions []question) []findings {
	t.Helper()
	dir := t.TempDir()
	for name, data := range web.BusinessPages().Assets {
		if strings.HasPrefix(name, "xp") {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("page.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, q := range questions {
		if err := encoder.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := tools.Command(t, tools.Node(t), script, dir)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	var all []findings
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var f findings
		if err := json.Unmarshal(s.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	if len(all) != len(questions) {
		t.Fatalf("%d questions, %d answers\n%s", len(questions), len(all), stderr.String())
	}
	return all
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// questionOf is a vector as the page gets it.
func questionOf(v *vectors.Tamper, all map[string]vectors.TamperEvidence) question {
	q := question{Document: v.Document, Publisher: v.Publisher, At: v.At}
	for i, name := range []string{v.RegistryKeys, v.PublisherKeys, v.Revocations, v.PublisherList} {
		if e, ok := all[name]; ok {
			q.Evidence[i] = &e
		}
	}
	if v.Root != nil {
		q.Root = *v.Root
	}
	return q
}

// XP-INTEGRITY-005: the page's reader and writer, byte for byte.
func TestThePageCanonicalisesEveryVector(t *testing.T) {
	var questions []question
	all := vectors.CanonsXP()
	for _, v := range all {
		questions = append(questions, question{Canon: v.Input()})
	}
	for i, got := range ask(t, questions) {
		want := findings{Canonical: all[i].Canonical}
		if all[i].Canonical == "" {
			want = findings{Error: business.CodeMalformed}
		}
		if text(t, got) != text(t, want) {
			t.Errorf("%s: %s\npage %s\nwant %s", all[i].Name, all[i].Note, text(t, got), text(t, want))
		}
	}
}

// XP-INTEGRITY-012: the page finds in every vector about a manifest what package business must find. Everything else it refuses, by name.
func TestThePageFindsTheSameInEveryVector(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	var questions []question
	all := vectors.TampersXP()
	for i := range all {
		questions = append(questions, questionOf(&all[i], evidence))
	}
	judged, refused := 0, 0
	for i, got := range ask(t, questions) {
		v := &all[i]
		want := findings{Publisher: got.Publisher, Signature: v.Want.Signature, Identity: v.Want.Identity, Authority: v.Want.Authority, Revocation: v.Want.Revocation, Mirror: v.Want.Mirror}
		switch {
		case v.Want.Error != nil && (v.Want.Error.Code == business.CodeMalformed || v.Want.Error.Code == business.CodeUnsupported):
			// The page does not read answers, so it need not tell their malformed coverage from another document.
			want = findings{Error: v.Want.Error.Code}
			if got.Error == "not_a_manifest" && !strings.Contains(v.Document, `"endpoints"`) {
				want.Error = got.Error
			}
			refused++
		case v.Want.Kind != business.KindManifest:
			want = findings{Error: "not_a_manifest"}
			if v.Want.Kind == business.KindUnknown && got.Error == business.CodeMalformed {
				want.Error = got.Error // several JSON texts, an export
			}
			refused++
		default:
			judged++
		}
		if a, b := text(t, got), text(t, want); a != b {
			t.Errorf("%s: %s\npage %s\nwant %s", v.Name, v.Note, a, b)
		}
	}
	if judged < 12 || judged+refused != len(all) {
		t.Errorf("%d judged, %d refused, of %d", judged, refused, len(all))
	}
}

// Every manifest of the vectors meets the evidence of every vector: keys, lists, roots and clocks that were made for answers, too. What package business
// finds then is what the page finds, reasons included.
func TestThePageFindsTheSameUnderForeignEvidence(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	all := vectors.TampersXP()
	documents := map[string]bool{}
	for i := range all {
		if all[i].Want.Kind == business.KindManifest {
			documents[all[i].Document] = true
		}
	}
	var questions []question
	var wants []findings
	for document := range documents {
		for i := range all {
			v := all[i]
			v.Document = document
			questions = append(questions, questionOf(&v, evidence))
			wants = append(wants, judge(t, &v, evidence))
		}
	}
	for i, got := range ask(t, questions) {
		if a, b := text(t, got), text(t, wants[i]); a != b {
			t.Errorf("evidence of %s\npage %s\nwant %s", all[i%len(all)].Name, a, b)
		}
	}
	t.Logf("%d manifests, %d pairs", len(documents), len(questions))
}

// judge is the verdict of package business.
func judge(t *testing.T, v *vectors.Tamper, all map[string]vectors.TamperEvidence) findings {
	t.Helper()
	at, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) *business.Fetched {
		e, ok := all[name]
		switch {
		case !ok:
			return nil
		case e.Error == "net_refused":
			return &business.Fetched{Err: business.ErrNetRefused}
		case e.Error != "":
			return &business.Fetched{Err: errors.New(e.Error)}
		}
		return &business.Fetched{Body: []byte(e.Document), At: at}
	}
	e := business.Evidence{
		RegistryKeys: get(v.RegistryKeys), PublisherKeys: get(v.PublisherKeys), Revocations: get(v.Revocations), PublisherList: get(v.PublisherList),
		Publisher: v.Publisher, At: at, FutureSkew: business.ReaderSkew,
	}
	if v.Root != nil {
		root, err := jwk.DecodeBase64URL(*v.Root)
		if err != nil {
			t.Fatal(err)
		}
		e.Root = &business.Root{Public: ed25519.PublicKey(root)}
	}
	got, err := business.Verify([]byte(v.Document), e)
	if err != nil {
		t.Fatal(err)
	}
	of := func(f business.Finding) *vectors.TamperFinding {
		return &vectors.TamperFinding{Value: f.Value, Reason: f.Reason, Count: f.Count}
	}
	return findings{Publisher: got.Publisher, Signature: of(got.Signature), Identity: of(got.Identity), Authority: of(got.Authority), Revocation: of(got.Revocation), Mirror: of(got.Mirror)}
}

// What a person may paste: the JWK, its x, its thumbprint, nothing; and what is no root.
func TestThePinnedRoot(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	all := vectors.TampersXP()
	var good *vectors.Tamper
	for i := range all {
		if all[i].Name == "T01-manifest" {
			good = &all[i]
		}
	}
	x := *good.Root
	raw, err := jwk.DecodeBase64URL(x)
	if err != nil {
		t.Fatal(err)
	}
	// A thumbprint finds its key in the registry's document, which may list the root; alone it is no key.
	keys := evidence[good.RegistryKeys]
	var parsed struct {
		Registry string           `json:"registry"`
		Keys     []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal([]byte(keys.Document), &parsed); err != nil {
		t.Fatal(err)
	}
	parsed.Keys = slices.DeleteFunc(parsed.Keys, func(k map[string]any) bool { return k["x"] == x })
	unlisted := text(t, parsed)
	if unlisted == keys.Document {
		t.Fatal("the vector's key document does not list the root")
	}
	cases := []struct{ pasted, keys, want string }{
		{x, keys.Document, "confirmed"},
		{"  " + x + "\n", keys.Document, "confirmed"},
		{`{"kty":"OKP","crv":"Ed25519","kid":"r","x":"` + x + `"}`, keys.Document, "confirmed"},
		{jwk.Thumbprint(raw), keys.Document, "confirmed"},
		{jwk.Thumbprint(raw), unlisted, "broken_chain"},
		{x, unlisted, "confirmed"},
		{"", keys.Document, "unconfirmed"},
		{strings.Repeat("A", 43), keys.Document, "broken_chain"},
		{`{"kty":"OKP","crv":"Ed25519","d":"AA","x":"` + x + `"}`, keys.Document, "private_key"},
		{`{"kty":"EC","crv":"P-256","x":"` + x + `"}`, keys.Document, "no_root_key"},
		{x + "=", keys.Document, "no_root_key"},
		{"https://registry.example/root.pub.json", keys.Document, "no_root_key"},
		{`{"kty":`, keys.Document, "malformed"},
	}
	var questions []question
	for _, c := range cases {
		q := questionOf(good, evidence)
		q.Root, q.Evidence[0] = c.pasted, &vectors.TamperEvidence{Document: c.keys}
		questions = append(questions, q)
	}
	for i, got := range ask(t, questions) {
		value := got.Error
		if got.Identity != nil {
			value = got.Identity.Value
		}
		if value != cases[i].want {
			t.Errorf("%q: %s, want %s", cases[i].pasted, value, cases[i].want)
		}
	}
}
