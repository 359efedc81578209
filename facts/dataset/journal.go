package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
	"sayso/jcs"
)

// reading is one value that an act confirms.
type reading struct {
	topic     *Topic // where the value stands now: a topic file, or a candidate file
	fact      *Fact
	value     *Value
	candidate bool
	on        facts.Date
	by        string
	fetched   *Fetched
	// withdrawal marks a value that is not in a file yet.
	withdrawal bool
}

func (r *reading) claim() facts.Claim { return facts.ClaimOf(r.fact.Key, &r.value.DatedValue) }

// journal writes what a list of readings changes, in the order that the package comment promises, and returns the changelog entries it made. Making the edits
// is what takes long: progress, unless nil, is called with the readings whose edit is made and their number.
func (w *work) journal(list []*reading, progress func(done, total int)) ([]facts.Entry, error) {
	slices.SortStableFunc(list, func(a, b *reading) int {
		return cmp.Or(cmp.Compare(a.on, b.on), cmp.Compare(a.value.start(), b.value.start()))
	})
	chain, err := w.entries(list)
	if err != nil {
		return nil, err
	}
	files, err := w.edits(list, &steps{show: progress, total: len(list)})
	if err != nil {
		return nil, err
	}
	lines, err := w.newLines(list)
	if err != nil {
		return nil, err
	}
	if err := w.appendLines(confirmationsFile, lines); err != nil {
		return nil, err
	}
	var log [][]byte
	for i := len(w.folder.Changes); i < len(chain); i++ {
		log = append(log, chain[i].AppendCanonical(nil))
	}
	if err := w.appendLines(changelogFile, log); err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.data == nil {
			err = w.remove(f.name)
		} else {
			err = w.write(f.name, f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	return chain[len(w.folder.Changes):], nil
}

// newLines are the confirmation lines that are not there yet.
func (w *work) newLines(list []*reading) ([][]byte, error) {
	type lineKey struct {
		confirmed
		by string
	}
	seen := make(map[lineKey]bool, len(w.folder.Confirmations))
	for i := range w.folder.Confirmations {
		c := &w.folder.Confirmations[i]
		seen[lineKey{confirmed{c.Hash, c.VerifiedDate}, c.By}] = true
	}
	var lines [][]byte
	for _, r := range list {
		claim := r.claim()
		k := lineKey{confirmed{claim.Hash(), r.on}, r.by}
		if seen[k] {
			continue
		}
		seen[k] = true
		line, err := jcs.Encode(&Confirmation{r.fact.Key, optional(r.value.Period), r.value.From, k.hash, r.on, r.by, r.value.Value, r.fetched})
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// entries makes the changelog entries of the readings that change what readers see, and returns the chain with them.
func (w *work) entries(list []*reading) (chain []facts.Entry, err error) {
	var made []facts.Entry
	log := map[string][]facts.Entry{}
	var last facts.Date
	for _, e := range w.folder.Changes {
		log[e.FactKey] = append(log[e.FactKey], e)
		last = e.VerifiedDate
	}
	for _, r := range list {
		topic := r.topic
		if r.candidate {
			if topic, err = w.home(r.topic, r.fact.Key); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(w.folder.Publisher.Areas, func(a Area) bool { return a.Name == topic.Area }) { // the changelog would name it for ever
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("area %q of %s is not declared", topic.Area, r.fact.Key), Next: "declare it under areas in publisher.yaml"}
		}
		if e, ok := entryOf(topic.Area, r, log[r.fact.Key], last); ok {
			log[r.fact.Key] = append(log[r.fact.Key], e)
			made = append(made, e)
		}
	}
	if len(made) == 0 {
		return w.folder.Changes, nil
	}
	if _, err := facts.CheckChain(w.folder.Changes); err != nil {
		return nil, &Error{Kind: Refused, Message: "the changelog is not whole: " + err.Error(), Next: "facts lint names the line; restore it from version control"}
	}
	chain, err = facts.AppendEntries(slices.Clone(w.folder.Changes), made)
	if err != nil {
		return nil, &Error{Kind: Refused, Message: "the changelog cannot take the entry: " + err.Error(), Next: w.afterNewest()}
	}
	return chain, nil
}

// afterNewest says which days the changelog can still take.
func (w *work) afterNewest() string {
	if len(w.folder.Changes) == 0 {
		return "confirm the readings in the order of their days"
	}
	newest := &w.folder.Changes[len(w.folder.Changes)-1]
	return fmt.Sprintf("the changelog never goes back: its newest entry is %s of %s, and a snapshot of an earlier day cannot follow it; confirm with that day or a later one",
		newest.FactKey, newest.VerifiedDate)
}

// entryOf is the changelog entry of a reading; ok is false when it changes nothing for readers: a re-verification, or an older value added to the history.
// A converted figure keeps the day on which its upstream checked it, which nobody can choose and which may lie before the newest entry, of the day last:
// its entry then has the day from which the log can hold it, and says so as dateBasis (F§8.5: days never decrease along the log).
func entryOf(area string, r *reading, log []facts.Entry, last facts.Date) (e facts.Entry, ok bool) {
	claim := r.claim()
	hash := claim.Hash()
	e = facts.Entry{
		FactKey: r.fact.Key, Label: r.fact.Label, From: facts.Null, To: r.value.Value, Unit: r.value.Unit, Period: r.value.Period,
		EffectiveFrom: r.value.From, Source: r.value.Source, VerifiedDate: r.on, SourceType: r.value.SourceType, Method: r.value.Method,
		SourceFile: r.value.SourceFile, Withdrawn: r.value.Withdrawn, SupersededBy: r.value.SupersededBy,
	}
	if r.by == ByConversion && !r.value.Checked.IsZero() && r.on < last {
		e.VerifiedDate, e.DateBasis = last, "commit"
	}
	e.Area, e.Key = changelogKey(area, r.fact.Key)
	for i := len(log) - 1; i >= 0; i-- {
		old := &log[i]
		if old.VerifiedDate == e.VerifiedDate {
			e.Seq = max(e.Seq, old.Seq+1)
		}
	}
	same := slices.IndexFunc(log, func(o facts.Entry) bool { return o.Hash == hash || o.Hash == "" && o.ClaimHash() == hash })
	if same >= 0 && !slices.ContainsFunc(log[same+1:], func(o facts.Entry) bool { return o.EffectiveFrom == e.EffectiveFrom && o.Period == e.Period }) {
		return e, false
	}
	if len(log) == 0 {
		return e, true
	}
	newest := &log[len(log)-1]
	for i := len(log) - 1; i >= 0; i-- {
		if o := &log[i]; o.EffectiveFrom == e.EffectiveFrom && o.Period == e.Period && o.Withdrawn.IsZero() == e.Withdrawn.IsZero() {
			e.From, e.Correction = o.To, true
			return e, true
		}
	}
	for i := range log {
		if log[i].EffectiveFrom > newest.EffectiveFrom {
			newest = &log[i]
		}
	}
	e.From = newest.To
	return e, r.value.start() > newest.EffectiveFrom || !e.Withdrawn.IsZero()
}

// fileEdit is the new content of a file; nil data removes it.
type fileEdit struct {
	name string
	data []byte
}

// edits makes the new content of every topic file, then of every candidate file, that the readings touch.
func (w *work) edits(list []*reading, made *steps) ([]fileEdit, error) {
	e := &editor{work: w, data: map[string][]byte{}, steps: made}
	moved := map[*Topic][]*reading{}
	var sources []*Topic
	for _, r := range list {
		var err error
		switch {
		case r.candidate:
			if moved[r.topic] == nil {
				sources = append(sources, r.topic)
			}
			moved[r.topic] = append(moved[r.topic], r)
		case r.withdrawal:
			err = e.withdrawFact(r)
		case r.value.Verified != r.on:
			path := yamlx.Path{"facts", r.fact.index, "values", r.value.index}
			err = e.change(r.topic.File, func(b []byte) ([]byte, error) { return yamlx.SetMember(b, path, "verifiedDate", r.on.String()) })
		}
		if err != nil {
			return nil, err
		}
		if !r.candidate {
			made.add()
		}
	}
	for _, t := range sources {
		if err := e.move(t, moved[t]); err != nil {
			return nil, err
		}
	}
	for _, f := range e.files {
		if f.data == nil {
			continue
		}
		if err := w.checkFile(f.name, f.data); err != nil {
			return nil, err
		}
	}
	return e.files, nil
}

// checkFile refuses an edit whose result could not be loaded: nothing is written then.
func (w *work) checkFile(name string, data []byte) error {
	var f findings
	root, err := yamlx.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d := &decoder{findings: &f, file: name, candidate: strings.HasPrefix(name, candidatesDir+"/")}
	d.topic(root)
	if r := newReport(f.list, false); r.Failed() {
		return &FolderError{r}
	}
	return nil
}
