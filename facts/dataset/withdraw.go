package dataset

import (
	"context"
	"fmt"

	"sayso/facts"
)

// WithdrawOptions say that a source no longer states a figure.
type WithdrawOptions struct {
	Key, Source, Reason string
	From                facts.Date // first day on which the source no longer states it
	SupersededBy        string     // the key that replaces it, "" when none does
	SourceType, Method  string
	By                  string
	Date, Today         facts.Date
	Offline             bool
	Fetcher             Fetcher
}

// Withdraw ends a fact: it adds a value null, with its confirmation and a changelog entry (F§10.3, F§5.4). The same rules as for Confirm apply: the source
// that shows the withdrawal is fetched unless Offline. The fact keeps its history and stays
// listed; a held value that would have run on ends on the day before.
func Withdraw(ctx context.Context, dir string, o WithdrawOptions) (*Confirmed, error) {
	w, done, err := begin(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.withdraw(ctx, o)
}

func (w *work) withdraw(ctx context.Context, o WithdrawOptions) (*Confirmed, error) {
	topic, fact := w.folder.Find(o.Key)
	if fact == nil || len(confirmedValues(fact)) == 0 {
		return nil, &Error{Kind: NotFound, Message: fmt.Sprintf("no published fact %s", clip(o.Key)), Next: "facts show lists the keys"}
	}
	last := confirmedValues(fact)[0]
	if !last.Withdrawn.IsZero() {
		return &Confirmed{Key: o.Key, Period: last.Period, From: last.From, Value: facts.Null, Date: last.Verified}, nil
	}
	switch {
	case o.Reason == "" || o.Source == "" || o.From.IsZero():
		return nil, &Error{Kind: Usage, Message: "a withdrawal needs a source, a reason and the first day", Next: "pass --source, --reason and --from"}
	case o.From <= last.start():
		return nil, &Error{Kind: Refused, Message: fmt.Sprintf("%s lies before the held value begins (%s)", o.From, last.start()),
			Next: "name the first day on which the source no longer states the figure"}
	}
	if _, target := w.folder.Find(o.SupersededBy); o.SupersededBy != "" && (target == nil || o.SupersededBy == o.Key) {
		return nil, &Error{Kind: NotFound, Message: fmt.Sprintf("%s is no other key of this folder", clip(o.SupersededBy)),
			Next: "name the key that replaces this one"}
	}
	v := &Value{DatedValue: facts.DatedValue{Value: facts.Null, Unit: last.Unit, Period: last.Period, From: o.From, Source: o.Source, SourceType: o.SourceType,
		Method: o.Method, WithdrawnReason: o.Reason, SupersededBy: o.SupersededBy}}
	r := &reading{topic: topic, fact: fact, value: v, withdrawal: true}
	var err error
	if err = r.date(o.Date, o.Today); err != nil {
		return nil, err
	}
	if r.by, err = w.reader(o.By); err != nil {
		return nil, err
	}
	if err := w.authority(o.Key, o.Source, o.SourceType); err != nil {
		return nil, err
	}
	v.Withdrawn, v.Verified = r.on, r.on
	c := &Confirmed{Key: o.Key, Period: v.Period, From: v.From, Value: facts.Null, Date: r.on}
	return w.conclude(ctx, r, c, o.Offline, o.Fetcher)
}
