package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/jcs"
)

// maxBackDays is how far back the day of a reading may lie (F§10.4 rule 3).
const maxBackDays = 7

// ConfirmOptions are one act of reading a source.
type ConfirmOptions struct {
	Key     string
	Period  string     // "" chooses the only draft or candidate, else the newest value
	Value   string     // what the person read, as typed: a decimal number, text, or JSON
	By      string     // who read it; "" is the publisher's name
	Date    facts.Date // the day of reading; zero is Today
	Today   facts.Date
	Offline bool    // do not fetch the source
	Fetcher Fetcher // needed unless Offline
}

// Confirmed is the result of a confirmation.
type Confirmed struct {
	Key       string      `json:"key"`
	Period    string      `json:"period,omitempty"`
	From      facts.Date  `json:"effectiveFrom"`
	Value     facts.Value `json:"value"`
	Date      facts.Date  `json:"verifiedDate"`
	Hash      string      `json:"hash"`
	Changed   bool        `json:"changed"` // a changelog entry was written
	Correct   bool        `json:"correction,omitzero"`
	Moved     bool        `json:"moved,omitzero"` // it was a candidate
	Converted bool        `json:"converted,omitzero"`
	Fetched   *Fetched    `json:"fetched,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
}

// Confirm records that a person has read a value in its source: the only act, beside Withdraw and ConfirmConverted, that moves a verifiedDate (F§10.4).
// A typed value that differs from the file is an *Error of kind Differs and nothing is written. Confirming again on the same day changes nothing.
func Confirm(ctx context.Context, dir string, o ConfirmOptions) (*Confirmed, error) {
	w, done, err := begin(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.confirm(ctx, o)
}

func (w *work) confirm(ctx context.Context, o ConfirmOptions) (*Confirmed, error) {
	r, err := w.choose(o.Key, o.Period)
	if err != nil {
		return nil, err
	}
	if o.Value == "" {
		return nil, &Error{Kind: Usage, Message: "the value that was read is missing",
			Next: "open " + r.value.Source + " and type the figure it states with --value"}
	}
	if !sameValue(o.Value, r.value) {
		return nil, &Error{Kind: Differs, Message: fmt.Sprintf("%s (%s) is %s in the file and %s as read", o.Key, spanText(r.value), r.value.Value.Text(), clip(o.Value)),
			Next: "a new figure: facts set; a wrong one: facts set --correction; then confirm it"}
	}
	if err := r.date(o.Date, o.Today); err != nil {
		return nil, err
	}
	if r.by, err = w.reader(o.By); err != nil {
		return nil, err
	}
	if err := w.authority(r.fact.Key, r.value.Source, r.value.SourceType); err != nil {
		return nil, err
	}
	c := &Confirmed{Key: r.fact.Key, Period: r.value.Period, From: r.value.From, Value: r.value.Value, Date: r.on, Moved: r.candidate}
	return w.conclude(ctx, r, c, o.Offline, o.Fetcher)
}

// conclude looks at the source unless offline, writes the act into the folder and completes its result.
func (w *work) conclude(ctx context.Context, r *reading, c *Confirmed, offline bool, fetcher Fetcher) (_ *Confirmed, err error) {
	if !offline {
		if c.Warnings, err = w.look(ctx, r, fetcher); err != nil {
			return nil, err
		}
		c.Fetched = r.fetched
	}
	entries, err := w.journal([]*reading{r}, nil)
	if err != nil {
		return nil, err
	}
	claim := r.claim()
	c.Hash, c.Changed = claim.Hash(), len(entries) > 0
	c.Correct = c.Changed && entries[0].Correction
	return c, nil
}

// choose finds the value that a person means: of a topic file or, when it is not there, of a candidate file. A candidate that an interrupted act has
// already copied is chosen again, so that the act ends.
func (w *work) choose(key, period string) (*reading, error) {
	topic, fact := w.folder.Find(key)
	source, candidate := w.folder.FindCandidate(key)
	var list []*reading
	if fact != nil {
		for i := range fact.Values {
			list = append(list, &reading{topic: topic, fact: fact, value: &fact.Values[i]})
		}
	}
	if candidate != nil {
		for i := range candidate.Values {
			list = append(list, &reading{topic: source, fact: candidate, value: &candidate.Values[i], candidate: true})
		}
	}
	if len(list) == 0 {
		next := "facts show lists the keys"
		if near := facts.NearestName(key, w.keys()); near != "" {
			next = fmt.Sprintf("did you mean %s?", near)
		}
		return nil, &Error{Kind: NotFound, Message: fmt.Sprintf("no fact or candidate %s", clip(key)), Next: next}
	}
	open := slices.DeleteFunc(slices.Clone(list), func(r *reading) bool { return !r.value.Draft() })
	if period != "" {
		named := func(r *reading) bool { return spanText(r.value) != period }
		list, open = slices.DeleteFunc(list, named), slices.DeleteFunc(open, named)
	}
	switch {
	case len(open) == 1:
		return open[0], nil
	case len(open) > 1:
		return nil, &Error{Kind: Usage, Message: fmt.Sprintf("%s has %d unconfirmed values", key, len(open)),
			Next: "name one with --period " + spanText(open[0].value) + " (a label or a first day)"}
	case len(list) == 0:
		return nil, &Error{Kind: NotFound, Message: fmt.Sprintf("%s holds no value for %s", key, clip(period)), Next: "add it with facts set"}
	}
	return slices.MaxFunc(list, func(a, b *reading) int { return int(a.value.start()) - int(b.value.start()) }), nil
}

func (w *work) keys() []string {
	var keys []string
	for _, topics := range [][]Topic{w.folder.Topics, w.folder.Candidates} {
		for i := range topics {
			for j := range topics[i].Facts {
				keys = append(keys, topics[i].Facts[j].Key)
			}
		}
	}
	return keys
}

// sameValue compares what was typed with the value of the file: as a decimal number, as text, or as JSON.
func sameValue(typed string, v *Value) bool {
	typed = strings.TrimSpace(typed)
	switch v.Value.Kind() {
	case "number":
		text, err := jcs.Number(typed)
		return err == nil && text == string(v.Value)
	case "string":
		if typed == v.Value.Text() {
			return true
		}
	}
	parsed, err := facts.ParseValue([]byte(typed))
	return err == nil && parsed == v.Value
}

// date checks the day of reading (rule 3).
func (r *reading) date(on, today facts.Date) error {
	if on.IsZero() {
		on = today
	}
	refuse := func(why string) error {
		return &Error{Kind: Refused, Message: fmt.Sprintf("%s cannot be confirmed on %s: %s", r.fact.Key, on, why),
			Next: "name the day on which the source was read, at most seven days ago"}
	}
	switch {
	case on > today:
		return refuse(fmt.Sprintf("that is after today (%s)", today))
	case on < today-maxBackDays:
		return refuse(fmt.Sprintf("that is more than %d days ago", maxBackDays))
	case on < r.value.Verified:
		return refuse(fmt.Sprintf("it was confirmed on %s already", r.value.Verified))
	}
	r.on = on
	return nil
}

// reader is the name on a confirmation line.
func (w *work) reader(by string) (string, error) {
	if by == "" {
		by = w.folder.Publisher.Name
	}
	if by == ByConversion || len(by) > 200 || strings.ContainsFunc(by, func(r rune) bool { return r < 0x20 }) {
		return "", &Error{Kind: Usage, Message: fmt.Sprintf("%q cannot be the name of a reader", clip(by)), Next: "name a person with --by"}
	}
	return by, nil
}

// look fetches the source of a reading (rule 4).
func (w *work) look(ctx context.Context, r *reading, f Fetcher) (warnings []string, err error) {
	v := r.value
	if f == nil {
		return nil, &Error{Kind: Usage, Message: "the source is to be fetched and there is nothing to fetch with", Next: "pass a fetcher, or confirm offline"}
	}
	page, err := f.Fetch(ctx, v.Source, Validators{})
	if err != nil {
		return nil, &Error{Kind: Unavailable, Message: fmt.Sprintf("the source of %s could not be fetched: %v", r.fact.Key, err),
			Next: "try again, or confirm with --offline after reading it in a browser"}
	}
	if page.Status != 200 {
		return nil, &Error{Kind: Refused, Message: fmt.Sprintf("the source of %s answered with status %d", r.fact.Key, page.Status),
			Next: "find the page that states the figure now and write it with facts set --correction"}
	}
	if err := w.authority(r.fact.Key, page.FinalURL, v.SourceType); err != nil {
		return nil, err
	}
	body := pageText(page.Body)
	quoted := v.Quote != "" && strings.Contains(body, normalText(v.Quote))
	r.fetched = &Fetched{page.Status, page.FinalURL, bodyHash(page.Body), quoted, page.ETag, page.LastModified}
	if v.Quote != "" && !quoted {
		warnings = append(warnings, "the page does not contain the quote: compare it before you rely on the figure")
	}
	if k := v.Value.Kind(); (k == "number" || k == "string") && !containsValue(body, v.Value) {
		warnings = append(warnings, "the page does not contain the value in any usual spelling")
	}
	if page.FinalURL != v.Source {
		warnings = append(warnings, "the page was answered from "+page.FinalURL)
	}
	return warnings, nil
}

// authority refuses a page that is not https on a declared authority of the key's namespace; a derived figure may cite any https page.
func (w *work) authority(key, source, sourceType string) error {
	host := facts.SourceHost(source)
	if !strings.HasPrefix(source, "https://") || host == "" {
		return &Error{Kind: Refused, Message: fmt.Sprintf("the source %s of %s is no https page", clip(source), key), Next: "cite the https address of the page"}
	}
	if sourceType == SourceDerived || sourceType == SourceMethodology {
		return nil
	}
	for _, n := range w.folder.Publisher.Namespaces {
		if n.Name == facts.KeyNamespace(key) && slices.Contains(n.Authorities, host) {
			return nil
		}
	}
	return &Error{Kind: Refused, Message: fmt.Sprintf("%s is not an authority of namespace %s", host, facts.KeyNamespace(key)),
		Next: "cite the authority's page, or declare the host in publisher.yaml"}
}
