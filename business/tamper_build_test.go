package business_test

import (
	"encoding/json"
	"strings"
	"time"

	"sayso/business"
	"sayso/jwk"
	"sayso/vectors"
)

// builder collects vectors, and the evidence they name.
type builder struct {
	vectors  []vectors.Tamper
	evidence []vectors.TamperEvidence
	named    map[string]bool
}

// change turns the vector of a good document into that of a tampered one.
type change func(*builder, *vectors.Tamper)

// add takes a document; without changes a reader finds nothing against it.
func (b *builder) add(name, class, note, document string, changes ...change) {
	root := jwk.EncodeBase64URL(publicOf(rootKey))
	good := func(value string) *vectors.TamperFinding { return &vectors.TamperFinding{Value: value} }
	v := vectors.Tamper{
		Name: name, Class: class, Note: note, Document: document, Root: &root, At: readAt.Format(time.RFC3339),
		RegistryKeys: "registry-keys", PublisherKeys: "publisher-keys", Revocations: "registry-list", PublisherList: "publisher-list",
		Want: vectors.TamperWant{
			Kind: business.KindEnvelope, Signature: good("valid"), Identity: good("confirmed"), Authority: good("current"), Revocation: good("clean"),
			Call: good("not_applicable"), Mirror: good("ok"),
		},
	}
	for _, c := range changes {
		c(b, &v)
	}
	if v.Want.Error == nil {
		v.Want.Usable = usableFrom(&v.Want)
	}
	b.vectors = append(b.vectors, v)
}

// usableFrom says what a strict reader may do with the findings. It is the rule of the verdict written a second time. A usable finding that stands already
// holds what the other findings do not show.
func usableFrom(w *vectors.TamperWant) *vectors.TamperFinding {
	var against []string
	for _, f := range []struct {
		finding *vectors.TamperFinding
		fine    string
		prefix  string
	}{
		{w.Signature, "valid", "signature_"}, {w.Mirror, "ok not_applicable", "mirror_"}, {w.Call, "match not_applicable", "call_"},
		{w.Identity, "confirmed", "identity_"}, {w.Authority, "current not_proven not_stated", "authority_"}, {w.Revocation, "clean", "revocation_"},
	} {
		if strings.Contains(" "+f.fine+" ", " "+f.finding.Value+" ") {
			continue
		}
		against = append(against, strings.Replace(f.prefix+f.finding.Value, "revocation_revoked", "revoked", 1))
	}
	if w.Usable != nil {
		against = append(against, w.Usable.Reason)
	}
	if len(against) == 0 {
		return &vectors.TamperFinding{Value: "yes"}
	}
	return &vectors.TamperFinding{Value: "no", Reason: strings.Join(against, ",")}
}

// Expected findings.

func sig(value, reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Signature }, value, reason, 0)
}
func id(value, reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Identity }, value, reason, 0)
}
func auth(value, reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Authority }, value, reason, 0)
}
func called(value, reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Call }, value, reason, 0)
}
func mirrored(value, reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Mirror }, value, reason, 0)
}
func revoked(value, reason string) change { return revokedN(value, reason, 0) }
func revokedN(value, reason string, n int) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Revocation }, value, reason, n)
}
func against(reason string) change {
	return finds(func(w *vectors.TamperWant) **vectors.TamperFinding { return &w.Usable }, "no", reason, 0)
}

func finds(of func(*vectors.TamperWant) **vectors.TamperFinding, value, reason string, n int) change {
	return func(_ *builder, v *vectors.Tamper) {
		*of(&v.Want) = &vectors.TamperFinding{Value: value, Reason: reason, Count: n}
	}
}

func refused(code, rule string) change {
	return func(_ *builder, v *vectors.Tamper) {
		v.Want = vectors.TamperWant{Error: &vectors.TamperError{Code: code, Rule: rule}}
	}
}

func kind(k string) change { return func(_ *builder, v *vectors.Tamper) { v.Want.Kind = k } }

// What the reader has.

func unpinned(_ *builder, v *vectors.Tamper) { v.Root = nil }

func readTime(t time.Time) change {
	return func(_ *builder, v *vectors.Tamper) { v.At = t.Format(time.RFC3339) }
}

func asked(slug string) change { return func(_ *builder, v *vectors.Tamper) { v.Publisher = slug } }

func sent(tool, arguments string) change {
	return func(_ *builder, v *vectors.Tamper) { v.Call = &vectors.TamperCall{Tool: tool, Arguments: arguments} }
}

func (b *builder) evidenceOf(name, class, document, err string) string {
	if name != "" && !b.named[name] {
		b.named[name] = true
		b.evidence = append(b.evidence, vectors.TamperEvidence{Name: name, Class: class, Document: document, Error: err})
	}
	return name
}

func withRegistryKeys(name, document string) change {
	return func(b *builder, v *vectors.Tamper) {
		v.RegistryKeys = b.evidenceOf(name, "registry-keys", document, "")
	}
}

func withPublisherKeys(name, document string) change {
	return func(b *builder, v *vectors.Tamper) {
		v.PublisherKeys = b.evidenceOf(name, "publisher-keys", document, "")
	}
}

func withRegistryList(name, document string) change {
	return func(b *builder, v *vectors.Tamper) { v.Revocations = b.evidenceOf(name, "revocations", document, "") }
}

func withPublisherList(name, document string) change {
	return func(b *builder, v *vectors.Tamper) { v.PublisherList = b.evidenceOf(name, "revocations", document, "") }
}

// publisherLists says that publisher A's list has these entries.
func publisherLists(name string, entries ...business.RevocationEntry) change {
	return withPublisherList(name, signedList(slugA, registry2, issuedAt, entries...))
}

func registryLists(name string, entries ...business.RevocationEntry) change {
	return withRegistryList(name, signedList("", registry2, issuedAt, entries...))
}

func failing(which func(*vectors.Tamper) *string, err string) change {
	return func(b *builder, v *vectors.Tamper) { *which(v) = b.evidenceOf(err, "none", "", err) }
}

func publisherKeysAt(v *vectors.Tamper) *string { return &v.PublisherKeys }
func publisherListAt(v *vectors.Tamper) *string { return &v.PublisherList }
func registryListAt(v *vectors.Tamper) *string  { return &v.Revocations }

// lines is a data file: one JSON object per line.
func lines[T any](all []T) []byte {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, v := range all {
		if err := e.Encode(v); err != nil {
			panic(err)
		}
	}
	return []byte(out.String())
}
