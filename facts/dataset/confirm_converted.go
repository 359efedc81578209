package dataset

import (
	"fmt"

	"sayso/facts"
)

// ConvertOptions choose what ConfirmConverted takes.
type ConvertOptions struct {
	Key   string // "" with All
	All   bool   // every candidate, and every draft of sourceType derived or methodology
	Date  facts.Date
	Today facts.Date
	// Progress is called with the values done and their number.
	Progress func(done, total int)
}

// ConfirmConverted confirms figures that were converted and that nobody re-read (F§10.4 rule 8): sourceType derived or methodology with a method. The
// verifiedDate is the value's own upstream check date, else Date, the day of the upstream snapshot. Nothing is fetched and no value is typed.
func ConfirmConverted(dir string, o ConvertOptions) ([]Confirmed, error) {
	w, done, err := begin(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.convert(o)
}

func (w *work) convert(o ConvertOptions) ([]Confirmed, error) {
	list, err := w.convertible(o)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.on = r.value.Checked; r.on.IsZero() {
			r.on = o.Date
		}
		r.by = ByConversion
		switch {
		case r.value.SourceType != SourceDerived && r.value.SourceType != SourceMethodology, r.value.Method == "":
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("%s (%s) is not of sourceType derived or methodology with a method", r.fact.Key, spanText(r.value)),
				Next: "say so in its file, or read the source and confirm the value that you read"}
		case r.on.IsZero():
			return nil, &Error{Kind: Usage, Message: fmt.Sprintf("%s (%s) carries no upstream check date", r.fact.Key, spanText(r.value)),
				Next: "name the day of the upstream snapshot with --date"}
		case r.on > o.Today:
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("%s lies after today (%s)", r.on, o.Today), Next: "name the day of the upstream snapshot"}
		case r.on < r.value.Verified:
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("%s was confirmed on %s already", r.fact.Key, r.value.Verified), Next: "name a later day"}
		}
	}
	entries, err := w.journal(list, o.Progress)
	if err != nil {
		return nil, err
	}
	logged := map[string]bool{}
	for i := range entries {
		logged[entries[i].Hash] = true
	}
	out := make([]Confirmed, len(list))
	for i, r := range list {
		claim := r.claim()
		hash := claim.Hash()
		out[i] = Confirmed{Key: r.fact.Key, Period: r.value.Period, From: r.value.From, Value: r.value.Value, Date: r.on, Hash: hash, Changed: logged[hash], Moved: r.candidate, Converted: true}
	}
	return out, nil
}

// convertible lists the readings of a conversion; of one key, every unconfirmed value of it.
func (w *work) convertible(o ConvertOptions) ([]*reading, error) {
	if o.All != (o.Key == "") {
		return nil, &Error{Kind: Usage, Message: "either one key or all is converted", Next: "name a key, or pass --all"}
	}
	var list []*reading
	for c, topics := range [][]Topic{w.folder.Topics, w.folder.Candidates} {
		for i := range topics {
			for j := range topics[i].Facts {
				f := &topics[i].Facts[j]
				for k := range f.Values {
					v := &f.Values[k]
					derived := v.SourceType == SourceDerived || v.SourceType == SourceMethodology
					if v.Draft() && (f.Key == o.Key || o.All && (c == 1 || derived)) {
						list = append(list, &reading{topic: &topics[i], fact: f, value: v, candidate: c == 1})
					}
				}
			}
		}
	}
	if len(list) == 0 && !o.All {
		r, err := w.choose(o.Key, "")
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}
