package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/jws"
	"sayso/report"
)

// confirmations checks that every verifiedDate has its line (F§10.4 rule 6).
func (l *linter) confirmations() {
	lines := make(map[confirmed][]*Confirmation, len(l.folder.Confirmations))
	for i := range l.folder.Confirmations {
		c := &l.folder.Confirmations[i]
		at := place(confirmationsFile, Position{int32(i + 1), 1})
		if c.VerifiedDate > l.today {
			l.fail(ruleVerified, at, fmt.Sprintf("a confirmation is dated %s, after today (%s)", c.VerifiedDate, l.today),
				"nobody can have read the source yet", "restore the file from version control")
		}
		k := confirmed{c.Hash, c.VerifiedDate}
		lines[k] = append(lines[k], c)
	}
	for i := range l.folder.Topics {
		t := &l.folder.Topics[i]
		for j := range t.Facts {
			for k := range t.Facts[j].Values {
				if v := &t.Facts[j].Values[k]; !v.Draft() && !v.broken {
					l.confirmation(t, &t.Facts[j], v, lines)
				}
			}
		}
	}
}

func (l *linter) confirmation(t *Topic, f *Fact, v *Value, lines map[confirmed][]*Confirmation) {
	claim := facts.ClaimOf(f.Key, &v.DatedValue)
	at := place(t.File, v.At.Verified)
	found := lines[confirmed{claim.Hash(), v.Verified}]
	found = slices.DeleteFunc(slices.Clone(found), func(c *Confirmation) bool { return c.Key != f.Key })
	if len(found) == 0 {
		l.fail(ruleVerified, at, fmt.Sprintf("no confirmation of %s (%s) on %s stands in %s", f.Key, spanText(v), v.Verified, confirmationsFile),
			"a verifiedDate is moved by reading the source, never by hand; the value, unit, period, first day or source may have changed since",
			"remove verifiedDate and run facts confirm "+f.Key)
		return
	}
	converted := !slices.ContainsFunc(found, func(c *Confirmation) bool { return c.By != ByConversion })
	if converted && v.SourceType != SourceDerived && v.SourceType != SourceMethodology {
		l.fail(ruleVerified, at, fmt.Sprintf("%s was converted, not re-read, and its sourceType is not derived or methodology", f.Key),
			"readers would take it for a figure that somebody checked", "say sourceType: derived with a method, or read the source and run facts confirm "+f.Key)
	}
}

// changelogKey is the area and key under which a fact stands in the changelog (F§8.3).
func changelogKey(area, key string) (string, string) {
	_, rest, _ := strings.Cut(key, "/")
	return area, rest
}

// changelog checks VF-D-011.
func (l *linter) changelog() {
	chain := l.folder.Changes
	_, err := facts.CheckChain(chain)
	if broken, ok := err.(*facts.ChainError); ok && broken.Rule != facts.ChainHash { // every wrong hash is told below
		l.fail(ruleChangelog, place(changelogFile, Position{int32(broken.Position + 1), 1}), broken.Message, "the changelog is append-only and every entry is linked to the one before",
			"restore it from version control")
	}
	names := map[string]string{}
	newest := map[string]int{}
	for i := range chain {
		e := &chain[i]
		at := place(changelogFile, Position{int32(i + 1), 1})
		name := e.Area + ":" + e.Key
		if other := names[name]; other != "" && other != e.FactKey {
			l.fail(ruleChangelog, at, fmt.Sprintf("%s names %s here and %s before", name, e.FactKey, other), "area and key name one fact",
				"restore the file from version control")
		}
		names[name] = e.FactKey
		if e.Hash != e.ClaimHash() {
			l.fail(ruleChangelog, at, fmt.Sprintf("the hash of the entry of %s is not that of its claim", e.FactKey), "the line was changed by hand",
				"restore the file from version control")
		}
		if e.VerifiedDate > l.today {
			l.fail(ruleChangelog, at, fmt.Sprintf("the entry of %s is dated %s, after today", e.FactKey, e.VerifiedDate),
				"nobody can have read the source yet", "restore the file from version control")
		}
		if l.keys[e.FactKey] == nil {
			if l.incomplete() {
				continue
			}
			l.fail(ruleChangelog, at, fmt.Sprintf("%s stands in the changelog and in no topic file", e.FactKey), "a key is never deleted",
				"restore the fact; withdraw it with facts withdraw")
			continue
		}
		newest[e.FactKey] = i
	}
	for i := range l.folder.Topics {
		t := &l.folder.Topics[i]
		for j := range t.Facts {
			l.agrees(t, &t.Facts[j], chain, newest)
		}
	}
}

// agrees checks that the newest entry of a key and the newest held value tell the same.
func (l *linter) agrees(t *Topic, f *Fact, chain []facts.Entry, newest map[string]int) {
	if f.broken() || t.broken && len(f.Values) == 0 {
		return
	}
	held := confirmedValues(f)
	i, logged := newest[f.Key]
	at := place(t.File, f.At)
	next := "run facts confirm " + f.Key + " again: it completes the entry"
	if !logged {
		if len(held) > 0 {
			l.fail(ruleChangelog, at, fmt.Sprintf("%s is published and has no changelog entry", f.Key), "readers learn of figures from the changelog", next)
		}
		return
	}
	hashes := make([]string, len(held))
	for k, v := range held {
		claim := facts.ClaimOf(f.Key, &v.DatedValue)
		hashes[k] = claim.Hash()
	}
	// The newest entry may be the correction of an older value; then an earlier entry told of the newest one.
	told := slices.Contains(hashes, chain[i].Hash)
	if told && chain[i].Hash != hashes[0] {
		told = slices.ContainsFunc(chain[:i], func(e facts.Entry) bool { return e.FactKey == f.Key && e.Hash == hashes[0] })
	}
	if !told {
		l.fail(ruleChangelog, at, fmt.Sprintf("the newest entry of %s (%s) and its held value differ", f.Key, place(changelogFile, Position{int32(i + 1), 1})),
			"a figure was changed by hand, or a command was interrupted", next)
	}
}

// signing checks VF-D-012.
func (l *linter) signing() {
	if k := l.folder.Keys; k != nil && l.folder.HasSignatures {
		l.keyDates()
	}
	if l.level != "L3" {
		return
	}
	type job struct {
		topic *Topic
		fact  *Fact
	}
	var jobs []job
	for i := range l.folder.Topics {
		for j := range l.folder.Topics[i].Facts {
			if f := &l.folder.Topics[i].Facts[j]; !f.broken() {
				jobs = append(jobs, job{&l.folder.Topics[i], f})
			}
		}
	}
	stored := l.folder.signaturesByAttestation()
	collected := make([]findings, len(jobs))
	parallel(len(jobs), func(i int) {
		for _, v := range held(jobs[i].fact) {
			l.signature(&collected[i], jobs[i].topic, jobs[i].fact, &v, stored)
		}
	})
	for i := range collected {
		l.findings.list = append(l.findings.list, collected[i].list...)
	}
}

func (l *linter) signature(f *findings, t *Topic, fact *Fact, v *facts.DatedValue, stored map[string]*facts.Signature) {
	a := facts.Attest(l.folder.Publisher.Publisher, fact.Key, v)
	refuse := func(message, reason, next string) {
		f.fail(ruleSignature, v.Place, fmt.Sprintf("%s: %s", fact.Key, message), reason, next)
	}
	s := stored[attestationDigest(&a)]
	if s == nil {
		refuse("the value has no signature", "at L3 every served value is signed for exactly what it says", "run facts sign")
		return
	}
	if l.folder.Keys == nil {
		refuse("no jwks.json is there", "readers cannot check the signature", "restore it from version control")
		return
	}
	key, ok := l.folder.Keys.Find(s.Kid)
	if !ok {
		refuse(fmt.Sprintf("key %s is not listed in jwks.json", s.Kid), "readers cannot check the signature; a retired key stays listed for at least two years",
			"list the key again, or sign with a listed one (facts sign --all)")
		return
	}
	if revoked, err := facts.ParseDate(key.Revoked); err == nil && v.Verified > revoked {
		refuse(fmt.Sprintf("key %s was revoked on %s, before the value was verified on %s", s.Kid, revoked, v.Verified),
			"readers refuse the signature", "sign with another key (facts sign --all)")
		return
	}
	if err := jws.VerifyDetached(s.JWS, a.AppendCanonical(nil), s.Kid, key.Public); err != nil {
		refuse("the signature is wrong: "+err.Error(), "signatures.json was changed by hand, or the key set was", "run facts sign --all")
	}
}

// keyDates checks that no key which signed was taken out of the set (F§7.4: a retired key is kept for two years).
func (l *linter) keyDates() {
	missing := map[string]bool{}
	for i := range l.folder.Signatures {
		kid := l.folder.Signatures[i].Kid
		if _, ok := l.folder.Keys.Find(kid); !ok && !missing[kid] {
			missing[kid] = true
			l.warn(ruleSignature, keysFile, fmt.Sprintf("key %s signed values of this folder and is not listed", kid),
				"a retired key stays listed for at least two years, so that old copies can be checked", "restore its entry from version control")
		}
	}
}

// Bound on the keys that lint audits; facts audit takes them all.
const maxAudited = 5000

// resolving checks VF-D-014 and VF-D-016, which need the compiled dataset; a folder with errors is not compiled.
func (l *linter) resolving() {
	for _, f := range l.findings.list {
		if f.Outcome == report.Fail {
			for rule, message := range map[string]string{ruleResolves: "the self-resolution audit was not run", ruleSynonym: "synonyms were not checked"} {
				l.list = append(l.list, report.Finding{Rule: rule, Outcome: report.NotTested, Message: message, Reason: "that needs a folder without other errors",
					Next: "mend them first"})
			}
			return
		}
	}
	ds, err := l.folder.Dataset(DatasetOptions{Level: "L1"})
	if err != nil {
		l.fail(ruleShape, ".", err.Error(), "the dataset cannot be made", "mend what it names")
		return
	}
	snapshot, err := facts.NewSnapshot(ds, facts.Options{Origin: "https://lint.invalid", Static: true, Conformance: "L1"})
	if err != nil {
		l.refused(err)
		return
	}
	l.audit(ds, snapshot)
	l.synonyms(snapshot)
}

// refused reports what the compiler found beyond the rules, such as a record over 8 KiB.
func (l *linter) refused(err error) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		at, message := publisherFile, err.Error()
		var e *facts.DatasetError
		if errors.As(err, &e) {
			message = strings.TrimPrefix(e.Key+": ", ": ") + e.Problem
			if e.Place != "" {
				at = e.Place
			}
		}
		l.fail(ruleShape, at, message, "the compiled dataset would be refused", "mend the named place")
	}
}

func (l *linter) audit(ds *facts.Dataset, snapshot *facts.Snapshot) {
	step := max(1, (len(ds.Facts)+maxAudited-1)/maxAudited)
	var sample []*facts.Fact
	for i := 0; i < len(ds.Facts); i += step {
		sample = append(sample, &ds.Facts[i])
	}
	if step > 1 {
		l.list = append(l.list, report.Finding{Rule: ruleResolves, Outcome: report.NotTested, Message: fmt.Sprintf("%d of %d keys were audited", len(sample), len(ds.Facts)),
			Reason: "lint audits a spread sample of a large folder", Next: "run facts audit for all of them"})
	}
	collected := make([]findings, len(sample))
	parallel(len(sample), func(i int) {
		f := sample[i]
		at := f.Values[0].Place
		if written := l.keys[f.Key]; written != nil {
			at = place(l.files[written], written.At)
		}
		snapshot.Audit([]string{f.Key}, l.today, func(row facts.AuditRow) bool {
			message := fmt.Sprintf("%s: the %s %q", f.Key, row.Form, row.Query)
			switch {
			case row.Outcome == facts.AuditOther:
				collected[i].fail(ruleResolves, at, fmt.Sprintf("%s answers with %s", message, some(row.Rivals)), "a reader would get a wrong figure",
					"change the label or alias of one of them")
			case row.Outcome == facts.AuditAmbiguous && row.Form == facts.FormLabel:
				collected[i].warn(ruleResolves, at, fmt.Sprintf("%s is ambiguous with %s", message, some(row.Rivals)),
					"a reader who asks for it gets a choice, not the figure", "make the label tell them apart")
			case row.Outcome == facts.AuditMiss && row.Form == facts.FormLabel:
				collected[i].warn(ruleResolves, at, message+" does not find it", "a reader who asks for it gets no answer", "use words that are not stop words")
			}
			return true
		})
	})
	for i := range collected {
		l.list = append(l.list, collected[i].list...)
	}
}

// some lists the first of many keys.
func some(keys []string) string {
	if len(keys) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(keys[:3], ", "), len(keys)-3)
	}
	return strings.Join(keys, ", ")
}

// synonyms checks VF-D-016.
func (l *linter) synonyms(snapshot *facts.Snapshot) {
	stop := snapshot.Info().StopWords
	for i := range l.folder.Topics {
		t := &l.folder.Topics[i]
		seen := map[string]string{}
		for _, s := range t.Synonyms {
			at := place(t.File, s.At)
			phrase := strings.ToLower(s.Phrase)
			if other, ok := seen[phrase]; ok && other != s.Segment {
				l.warn(ruleSynonym, at, fmt.Sprintf("synonym %q leads to %q and to %q under %s", s.Phrase, other, s.Segment, t.Prefix),
					"a phrase has one meaning under a topic", "keep one of them")
			}
			seen[phrase] = s.Segment
			if slices.Contains(stop, phrase) {
				l.warn(ruleSynonym, at, fmt.Sprintf("synonym %q is a stop word", s.Phrase), "it stands in questions that mean something else",
					"choose another phrase")
			}
			if !slices.ContainsFunc(t.Facts, func(f Fact) bool { return hasSegment(f.Key, s.Segment) }) {
				l.warn(ruleSynonym, at, fmt.Sprintf("the expansion %q of %q is no part of a key under %s", s.Segment, s.Phrase, t.Prefix),
					"the synonym finds nothing", "write the key segment it stands for")
			}
		}
	}
}

// hasSegment reports whether one segment of key holds the words of expansion side by side.
func hasSegment(key, expansion string) bool {
	for segment := range strings.SplitSeq(key, "/") {
		if strings.Contains("-"+segment+"-", "-"+expansion+"-") {
			return true
		}
	}
	return false
}
