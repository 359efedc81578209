package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/report"
)

// DatasetOptions choose what Folder.Dataset makes.
type DatasetOptions struct {
	// Level overrides Folder.Level: "L3" demands a signature for every value, "L1" and "L2" leave signatures out. "" keeps the folder's own.
	Level string
}

// FolderError is the refusal of a folder that cannot be used; the report says why.
type FolderError struct{ Report *report.Report }

func (e *FolderError) Error() string {
	f := e.Cause()
	if f.Rule == "" {
		return "the folder has errors"
	}
	more := ""
	if n := e.Report.Counts()[report.Fail]; n > 1 {
		more = fmt.Sprintf(" (and %s more)", count(n-1, "error"))
	}
	return strings.TrimPrefix(f.Place+": ", ": ") + f.Message + " [" + f.Rule + "]" + more
}

// Cause is the error to mend first: the first that is about the figures themselves, since changelog and signatures follow them. It is the zero Finding when
// the report has no error.
func (e *FolderError) Cause() report.Finding {
	for _, late := range []string{ruleChangelog + ruleSignature, ruleSignature, ""} {
		for _, f := range e.Report.Findings {
			if f.Outcome == report.Fail && !strings.Contains(late, f.Rule) {
				return f
			}
		}
	}
	return report.Finding{}
}

// Open loads and lints a folder and makes its dataset: what a server and a build start from. On a *FolderError the report of lint is returned too.
func Open(fsys fs.FS, today facts.Date, o DatasetOptions) (*facts.Dataset, *report.Report, error) {
	folder, r := Load(fsys)
	if !r.Failed() {
		r = lint(folder, today, o.Level)
	}
	if r.Failed() {
		return nil, r, &FolderError{r}
	}
	ds, err := folder.Dataset(o)
	return ds, r, err
}

// Dataset is what the folder states: every confirmed value with its derived end and, at L3, its signature. Drafts and candidates are not in it. A folder
// with load errors gives a *FolderError. The rules of Lint are not run.
func (f *Folder) Dataset(o DatasetOptions) (*facts.Dataset, error) {
	if r := newReport(f.loaded, false); r.Failed() {
		return nil, &FolderError{r}
	}
	level, err := f.level(o.Level)
	if err != nil {
		return nil, err
	}
	p := &f.Publisher
	ds := &facts.Dataset{
		Publisher: p.Publisher, KidPrefix: p.KidPrefix, Licence: p.Licence, Contact: p.Contact, KeyPolicy: p.KeyPolicy, History: p.History,
		SelfCheck: p.SelfCheck, Examples: p.Examples, StopWords: p.StopWords, JurisdictionWords: p.JurisdictionWords, Changes: f.Changes,
		Signed: level == "L3",
	}
	if ds.Signed {
		ds.Keys = f.Keys
	}
	for _, n := range p.Namespaces {
		ds.Namespaces = append(ds.Namespaces, n.Namespace)
	}
	for _, a := range p.Areas {
		ds.Areas = append(ds.Areas, a.Area)
	}
	c := converter{publisher: p.Publisher, conversions: f.conversions()}
	if ds.Signed {
		c.signatures = f.signaturesByAttestation()
	}
	for i := range f.Topics {
		ds.Topics = append(ds.Topics, f.Topics[i].convert())
	}
	ds.Facts = c.facts(f.Topics)
	return ds, nil
}

func (f *Folder) level(override string) (string, error) {
	if override == "" {
		return f.Level(), nil
	}
	if !slices.Contains([]string{"L1", "L2", "L3"}, override) {
		return "", &Error{Kind: Usage, Message: fmt.Sprintf("level %q is none of L1, L2, L3", override)}
	}
	return override, nil
}

func (t *Topic) convert() facts.Topic {
	out := facts.Topic{Prefix: t.Prefix, Title: t.Title, Area: t.Area}
	if len(t.Synonyms) > 0 {
		out.Synonyms = make(map[string]string, len(t.Synonyms))
		for _, s := range t.Synonyms {
			out.Synonyms[s.Phrase] = s.Segment
		}
	}
	return out
}

// conversions are the values that were converted and never re-read: the hash and date of each such confirmation that no reading stands beside.
func (f *Folder) conversions() map[confirmed]bool {
	out := map[confirmed]bool{}
	for i := range f.Confirmations {
		c := &f.Confirmations[i]
		k := confirmed{c.Hash, c.VerifiedDate}
		if c.By != ByConversion {
			out[k] = false
		} else if _, seen := out[k]; !seen {
			out[k] = true
		}
	}
	return out
}

// confirmed is what a confirmation line confirms: a claim, which includes its key, on a day.
type confirmed struct {
	hash string
	on   facts.Date
}

func (f *Folder) signaturesByAttestation() map[string]*facts.Signature {
	out := make(map[string]*facts.Signature, len(f.Signatures))
	for i := range f.Signatures {
		s := &f.Signatures[i]
		out[s.Attestation] = &facts.Signature{Kid: s.Kid, JWS: s.JWS}
	}
	return out
}

type converter struct {
	publisher   facts.Publisher
	conversions map[confirmed]bool
	signatures  map[string]*facts.Signature
}

// facts converts every fact with a confirmed value, sorted by key.
func (c *converter) facts(topics []Topic) []facts.Fact {
	type source struct {
		fact  *Fact
		topic int
	}
	var list []source
	for i := range topics {
		for j := range topics[i].Facts {
			list = append(list, source{&topics[i].Facts[j], i})
		}
	}
	out := make([]facts.Fact, len(list))
	parallel(len(list), func(i int) {
		f := list[i].fact
		out[i] = facts.Fact{Key: f.Key, Label: f.Label, Scope: f.Scope, Aliases: f.Aliases, Topic: list[i].topic, Previous: f.Previous, Values: held(f)}
		for j := range out[i].Values {
			v := &out[i].Values[j]
			claim := facts.ClaimOf(f.Key, v)
			v.Converted = c.conversions[confirmed{claim.Hash(), v.Verified}]
			if c.signatures != nil {
				a := facts.Attest(c.publisher, f.Key, v)
				v.Signature = c.signatures[attestationDigest(&a)]
			}
		}
	})
	out = slices.DeleteFunc(out, func(f facts.Fact) bool { return len(f.Values) == 0 })
	slices.SortFunc(out, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// held is the confirmed values of a fact, newest first, each with its end: the author's, or the day before the next value.
func held(f *Fact) []facts.DatedValue {
	var out []facts.DatedValue
	for _, v := range confirmedValues(f) {
		d := v.DatedValue
		if n := len(out); d.To.IsZero() && n > 0 {
			next := out[n-1].From
			if next.IsZero() {
				next = out[n-1].Withdrawn
			}
			d.To = next - 1
		}
		out = append(out, d)
	}
	return out
}

// confirmedValues is the confirmed values of a fact, newest first.
func confirmedValues(f *Fact) []*Value {
	var out []*Value
	for i := range f.Values {
		if !f.Values[i].Draft() {
			out = append(out, &f.Values[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Value) int { return int(b.start()) - int(a.start()) })
	return out
}

// attestationDigest is the lookup key of a stored signature: it names the exact statement that was signed.
func attestationDigest(a *facts.Attestation) string {
	sum := sha256.Sum256(a.AppendCanonical(nil))
	return "sha256:" + hex.EncodeToString(sum[:])
}
