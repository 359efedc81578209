package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/report"
)

// readerTools are the three tools of F§9.1 over publishers that are asked on the network. Every record is verified before it is passed on: one whose hash,
// signature or key fails is no answer, and neither is one that could not be verified; the result says so with isError. Records, and documents of changes,
// carry a member verification (ext) beside what the publisher served.
type readerTools struct {
	publishers publishers
	catalogue  describe.Catalogue
}

// describeTimeout bounds how long a start waits for publishers that do not answer. They are asked again when a tool is called.
const describeTimeout = 5 * time.Second

// newReaderTools asks every publisher what it offers, all at once; unreached is told who does not answer.
func newReaderTools(ctx context.Context, ps publishers, unreached func(error)) *readerTools {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	offers := make([]*factshttp.Discovery, len(ps))
	failures := make([]error, len(ps))
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() { offers[i], failures[i] = p.Discovery(ctx) })
	}
	wg.Wait()
	t := &readerTools{publishers: ps}
	var names []string
	for i, d := range offers {
		if failures[i] != nil {
			unreached(readFailure(ps[i].Origin(), failures[i]))
			continue
		}
		names = append(names, d.Publisher.Name)
		t.catalogue.Count += d.Facts.Count
		t.catalogue.Examples = append(t.catalogue.Examples, d.Facts.Examples...)
		for _, n := range d.Namespaces {
			t.catalogue.Namespaces = append(t.catalogue.Namespaces, facts.Namespace{Name: n.Name, Description: n.Description})
		}
	}
	t.catalogue.Publisher = strings.Join(names, ", ")
	return t
}

func (t *readerTools) Definitions() []describe.Operation { return describe.OperationsOf(t.catalogue) }

func (t *readerTools) Instructions() string { return describe.InstructionsOf(t.catalogue) }

func (t *readerTools) Call(ctx context.Context, name string, args []byte) (describe.Result, bool) {
	params, known, err := describe.Arguments(name, args)
	if !known {
		return describe.Result{}, false
	}
	var document []byte
	if err == nil {
		switch name {
		case describe.ToolGet:
			document, err = t.get(ctx, params)
		case describe.ToolResolve:
			document, err = t.resolve(ctx, params)
		case describe.ToolChanges:
			document, err = t.changes(ctx, params)
		}
	}
	var parameter *facts.ParameterError
	switch {
	case errors.As(err, &parameter):
		return describe.Refusal(err), true
	case err != nil:
		return describe.Result{IsError: true, Text: report.Clean(err.Error())}, true
	}
	return describe.Result{JSON: document}, true
}

func (t *readerTools) get(ctx context.Context, params facts.Params) ([]byte, error) {
	sel, err := params.Selection()
	if err != nil {
		return nil, err
	}
	key := params["key"]
	if strings.TrimSpace(key) == "" {
		return nil, &facts.ParameterError{Parameter: "key", Message: "key is missing: name a key, such as one that resolve_fact finds"}
	}
	if !strings.Contains(key, ",") {
		return t.one(ctx, key, sel)
	}
	keys, err := facts.SplitKeys(key, "key")
	if err != nil {
		return nil, err
	}
	return t.batch(ctx, keys, sel)
}

// one is the verified record for a key, or the miss.
func (t *readerTools) one(ctx context.Context, key string, sel facts.Selection) ([]byte, error) {
	f, err := t.publishers.get(ctx, key, sel)
	if errors.Is(err, errNobody) {
		return nil, fmt.Errorf("no publisher here declares the namespace of %q; declared are %s", key, t.namespaces())
	}
	if err != nil {
		return nil, err
	}
	if f.Outcome != facts.OutcomeRecord {
		return f.missDocument(key, sel)
	}
	if o := judge(&f.Verification, f.Findings); o.refusal != "" {
		verb := "does not verify"
		if o.untested {
			verb = "could not be verified"
		}
		return nil, fmt.Errorf("the record of %s from %s %s and is not passed on: %s", f.Record.Key, f.publisher.Origin(), verb, o.refusal)
	}
	return withMember(f.JSON, "verification", f.checked())
}

func (t *readerTools) namespaces() string {
	var names []string
	for _, n := range t.catalogue.Namespaces {
		names = append(names, report.Clean(n.Name))
	}
	return strings.Join(names, ", ")
}

// checked is what the reader found, beside what the publisher says.
type checked struct {
	facts.Verification
	Status  string `json:"status"` // computed here, today
	AgeDays int    `json:"ageDays"`
	Origin  string `json:"origin"`
}

func (f *found) checked() checked {
	return checked{f.Verification, f.Status, f.AgeDays, f.publisher.Origin()}
}

// atOnce is how many keys of a batch are asked at the same time.
const atOnce = 4

// batch answers several keys, each from the publisher that holds it. A record that may not be passed on stands in the list as an error.
func (t *readerTools) batch(ctx context.Context, keys []string, sel facts.Selection) ([]byte, error) {
	results := make([]jcs.Raw, len(keys))
	stale := make([]bool, len(keys))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards refused
	var refused error
	for i, key := range keys {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			document, err := t.one(ctx, key, sel)
			var parameter *facts.ParameterError
			switch {
			case errors.As(err, &parameter):
				mu.Lock()
				refused = err
				mu.Unlock()
			case err != nil:
				document, err = jcs.Encode(struct {
					RequestedKey string `json:"requestedKey"`
					Error        string `json:"error"`
					Message      string `json:"message"`
				}{key, "not passed on", report.Clean(err.Error())})
				if err != nil {
					mu.Lock()
					refused = err
					mu.Unlock()
				}
			default:
				stale[i] = isStale(document)
			}
			results[i] = document
		})
	}
	wg.Wait()
	if refused != nil {
		return nil, refused
	}
	status := facts.StatusFresh
	if slices.Contains(stale, true) {
		status = facts.StatusStale
	}
	return jcs.Encode(struct {
		Protocol string    `json:"protocol"`
		Count    int       `json:"count"`
		Results  []jcs.Raw `json:"results"`
		Status   string    `json:"status"`
	}{facts.Protocol, len(results), results, status})
}

// isStale reads what the reader itself computed.
func isStale(document []byte) bool {
	var d struct {
		Verification struct {
			Status string `json:"status"`
		} `json:"verification"`
	}
	return jcs.Decode(document, &d) == nil && d.Verification.Status == facts.StatusStale
}

// missDocument is the miss as the publisher served it; a static publisher serves none, so the reader writes it (F§5.3).
func (f *found) missDocument(key string, sel facts.Selection) ([]byte, error) {
	if f.JSON != nil {
		return f.JSON, nil
	}
	view := f.figure(outcome{})
	if f.Outcome == facts.OutcomeUnknown {
		return jcs.Encode(struct {
			Protocol     string      `json:"protocol"`
			Covered      bool        `json:"covered"`
			Error        string      `json:"error"`
			RequestedKey string      `json:"requestedKey"`
			Candidates   []candidate `json:"candidates"`
			Hint         string      `json:"hint,omitempty"`
		}{facts.Protocol, false, facts.ErrorUnknownKey, key, view.Candidates, view.Hint})
	}
	requested := map[string]string{}
	if !sel.AsOf.IsZero() {
		requested["as_of"] = sel.AsOf.String()
	}
	if sel.Period != "" {
		requested["period"] = sel.Period
	}
	return jcs.Encode(struct {
		Protocol    string            `json:"protocol"`
		Key         string            `json:"key"`
		Label       string            `json:"label"`
		Covered     bool              `json:"covered"`
		Reason      string            `json:"reason"`
		Requested   map[string]string `json:"requested"`
		PeriodsHeld []held            `json:"periodsHeld"`
	}{facts.Protocol, f.Key, f.Label, false, f.Reason, requested, view.PeriodsHeld})
}

func (t *readerTools) resolve(ctx context.Context, params facts.Params) ([]byte, error) {
	limit, err := params.Limit(facts.DefaultCandidates, facts.MaxCandidates)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(params["q"]) == "" {
		return nil, &facts.ParameterError{Parameter: "q", Message: "q is missing: ask a question or name a loose key"}
	}
	r, err := t.publishers.resolve(ctx, params["q"], params["namespace"], limit)
	if err != nil {
		return nil, err
	}
	out := struct {
		Protocol   string      `json:"protocol"`
		Query      string      `json:"query"`
		Candidates []candidate `json:"candidates"`
		Best       jcs.Raw     `json:"best,omitempty"`
		Hint       string      `json:"hint,omitempty"`
	}{facts.Protocol, r.Query, r.Candidates, nil, r.Hint}
	if r.best != nil {
		if o := judge(&r.best.Verification, r.best.Findings); o.refusal != "" {
			out.Hint = fmt.Sprintf("the record of %s is not passed on: %s", r.best.Key, o.refusal)
		} else if out.Best, err = withMember(r.best.JSON, "verification", r.best.checked()); err != nil {
			return nil, err
		}
	}
	return jcs.Encode(out)
}

// changes is the document of one publisher, or all documents side by side when there are several. The cursor of one among several carries its position.
func (t *readerTools) changes(ctx context.Context, params facts.Params) ([]byte, error) {
	q, err := facts.ParseChangesQuery(params, true)
	if err != nil {
		return nil, err
	}
	asked := t.publishers
	first, several := 0, len(asked) > 1
	if several && q.Cursor != "" {
		position, rest, ok := strings.Cut(q.Cursor, ":")
		n, err := strconv.Atoi(position)
		if !ok || err != nil || n < 1 || n > len(asked) {
			return nil, &facts.ParameterError{Parameter: "cursor", Message: "cursor is not one that was given here"}
		}
		q.Cursor, asked, first = rest, asked[n-1:n], n-1
	}
	var documents []jcs.Raw
	var failure error
	for i, p := range asked {
		prefix := ""
		if several {
			prefix = strconv.Itoa(first+i+1) + ":"
		}
		document, err := p.changesDocument(ctx, q, prefix)
		if err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", p.Origin(), err))
			continue
		}
		documents = append(documents, document)
	}
	switch {
	case len(documents) == 0:
		return nil, failure
	case !several:
		return documents[0], nil
	}
	out := struct {
		Publishers []jcs.Raw `json:"publishers"`
		Note       string    `json:"note,omitempty"`
	}{Publishers: documents}
	if failure != nil {
		out.Note = "not answered by " + strings.ReplaceAll(report.Clean(failure.Error()), "\n", "; ")
	}
	return jcs.Encode(out)
}

// changesDocument is one publisher's answer, with the entries as received.
func (p *publisher) changesDocument(ctx context.Context, q facts.ChangesQuery, cursorPrefix string) (jcs.Raw, error) {
	doc, err := p.Changes(ctx, q)
	if err != nil {
		return nil, err
	}
	pins, err := p.pinFindings(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range append(doc.Findings, pins...) {
		if f.Outcome == report.Fail {
			return nil, fmt.Errorf("the changelog does not verify and is not passed on: %s", f.Message)
		}
	}
	entries := make([]jcs.Raw, len(doc.Entries))
	for i, e := range doc.Entries {
		entries[i] = e.JSON
	}
	next := ""
	if doc.Next != "" {
		next = cursorPrefix + doc.Next
	}
	type coverage struct {
		Start facts.Date `json:"start"`
		Note  string     `json:"note,omitempty"`
	}
	return jcs.Encode(struct {
		Protocol  string     `json:"protocol"`
		Origin    string     `json:"origin"`
		Generated facts.Date `json:"generated"`
		Since     facts.Date `json:"since"`
		Area      string     `json:"area,omitempty"`
		Coverage  coverage   `json:"coverage"`
		Count     int        `json:"count"`
		ChainHead string     `json:"chainHead,omitempty"`
		Entries   []jcs.Raw  `json:"entries"`
		Next      string     `json:"next,omitempty"`
	}{facts.ChangesProtocol, p.Origin(), doc.Generated, q.Since, q.Area, coverage{doc.CoverageStart, doc.Note}, len(entries), doc.ChainHead, entries, next})
}

// withMember adds one member at the end of a JSON object.
func withMember(object []byte, name string, v any) ([]byte, error) {
	value, err := jcs.Encode(v)
	if err != nil {
		return nil, err
	}
	object = bytes.TrimRight(object, " \t\r\n")
	body, ok := bytes.CutSuffix(object, []byte("}"))
	if !ok || len(bytes.TrimSpace(body)) < 2 {
		return nil, errors.New("what was received is not an object with members")
	}
	return slices.Concat(body, []byte(`,"`+name+`":`), value, []byte("}")), nil
}
