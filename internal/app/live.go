package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/jcs"
)

// Bounds of live readings.
const (
	MaxReadings = 10_000      // in one call
	MaxLive     = 8 << 20     // bytes of one call
	maxReading  = 16 << 10    // bytes of one line
	maxValue    = 256         // bytes of a value as JSON
	maxStanding = 100_000     // of one publisher
	maxListed   = maxPage     // that Readings lists
	maxSkew     = time.Minute // that a source's clock may be ahead of ours
)

// ReadingInput is one reading as it is pushed. Err is what keeps it from being judged, found while it was read.
type ReadingInput struct {
	Line       int // in its body, from 1
	Stream     string
	Subject    *RecordKey // nil for a stream without one
	Location   string     // "" for a stream that is not scoped
	Value      jcs.Raw
	ObservedAt time.Time // UTC with microseconds; what is finer is cut off
	Err        *Error
}

// RefusedReading is one line that was not kept, and why.
type RefusedReading struct {
	Line    int    `json:"line"`
	Code    string `json:"code"`
	Message string `json:"message"`
	refusal *Error
}

// LiveReceipt says what became of a push. Whoever pushes a repeated operation learns only that it was committed before.
type LiveReceipt struct {
	Publisher string           `json:"publisher"`
	Accepted  int              `json:"accepted"` // readings that stand now, or stood until a later line of the same push
	Refused   []RefusedReading `json:"refused"`
	At        time.Time        `json:"at"` // when they were received
	Repeated  bool             `json:"repeated,omitzero"`
}

// ReadReadings reads a body of readings, one JSON object on each line; empty lines count and say nothing. A line that is no JSON object, one that is too long,
// and one too many refuse the whole body: what the other lines are is then not certain. An object that is no reading is refused alone, when it is pushed.
func ReadReadings(data []byte) ([]ReadingInput, error) {
	if len(data) > MaxLive {
		return nil, invalid("too_large", "the readings are larger than %d bytes", MaxLive).next("push them in several calls")
	}
	var out []ReadingInput
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if len(out) == MaxReadings {
			return nil, refusal(KindLimit, "too_many_readings", "one call takes at most %d readings", MaxReadings).next("push them in several calls")
		}
		in, err := readReading(text)
		if err != nil {
			return nil, invalid(err.Code, "line %d: %s; nothing was kept", line, err.Message).next("send one JSON object on each line")
		}
		in.Line = line
		out = append(out, in)
	}
	if out == nil {
		return nil, invalid("invalid_body", "there is no reading in it").next("send one JSON object on each line")
	}
	return out, nil
}

// ReadReading reads a body that is one reading.
func ReadReading(data []byte) (ReadingInput, error) {
	in, err := readReading(bytes.TrimSpace(data))
	if err != nil {
		return in, err
	}
	in.Line = 1
	return in, nil
}

func readReading(text []byte) (in ReadingInput, _ *Error) {
	if len(text) > maxReading {
		return in, invalid("too_large", "a reading has at most %d bytes", maxReading)
	}
	members, err := business.Members(text)
	if err != nil {
		return in, invalid("invalid_body", "not one JSON object: %v", err)
	}
	in.Err = in.take(members)
	return in, nil
}

// take reads the members of a reading. Only what no schema has to be asked for is refused here.
func (in *ReadingInput) take(members []jcs.Member) *Error {
	missing := map[string]bool{"stream": true, "value": true, "observed_at": true}
	for _, m := range members {
		delete(missing, m.Name)
		ok := true
		switch m.Name {
		case "stream":
			in.Stream, ok = jcs.Text(m.Value)
		case "location":
			if in.Location, ok = jcs.Text(m.Value); ok && in.Location == "" {
				return invalid("invalid_reading", "the member location is empty; leave it out")
			}
		case "subject":
			in.Subject, ok = readSubject(m.Value)
		case "value":
			if in.Value = m.Value; len(in.Value) > maxValue {
				return invalid("invalid_value", "a value has at most %d bytes", maxValue)
			}
		case "observed_at":
			var s string
			if s, ok = jcs.Text(m.Value); !ok {
				break
			}
			var err error
			if in.ObservedAt, err = time.Parse(time.RFC3339, s); err != nil || in.ObservedAt.Unix() < 0 {
				return invalid("invalid_instant", "observed_at is no instant of RFC 3339 from 1970 on, such as 2026-01-02T15:04:05Z")
			}
			in.ObservedAt = in.ObservedAt.UTC().Truncate(time.Microsecond)
		default:
			return invalid("invalid_reading", "a reading has no member %s; it has stream, subject, location, value and observed_at", quoted(m.Name))
		}
		if !ok {
			return invalid("invalid_reading", "the member %s is not of its kind", m.Name)
		}
	}
	for _, name := range []string{"stream", "value", "observed_at"} {
		if missing[name] {
			return invalid("invalid_reading", "the member %s is missing", name)
		}
	}
	return nil
}

// readSubject reads {"type", "id"}, both and nothing else.
func readSubject(text jcs.Raw) (*RecordKey, bool) {
	members, err := business.Members(text)
	if err != nil || len(members) != 2 {
		return nil, false
	}
	var key RecordKey
	for _, m := range members {
		into := map[string]*string{"type": &key.Type, "id": &key.ID}[m.Name]
		var ok bool
		if into == nil {
			return nil, false
		}
		if *into, ok = jcs.Text(m.Value); !ok {
			return nil, false
		}
	}
	return &key, true
}

// quoted shows a text of a caller's, cut where it is long.
func quoted(s string) string {
	const limit = 60
	if len(s) > limit {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:limit], "")) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// errNothing undoes a push of which nothing was kept.
var errNothing = invalid("nothing_kept", "no reading was kept")

// PushReadings keeps the latest reading of each stream, subject and location (answers §14.3). Each reading is judged by the publisher's schema, records and
// locations as they stand in the transaction: those that break a rule, or are not newer than the one that stands, are listed and the others kept, durably
// and with one audit row. Nothing that documents are made of changes: there is no new revision, and nobody reloads. A push of which nothing was kept leaves
// no trace. A draft, a paused and a suspended publisher may push.
//
// A reading goes with what it belongs to: the commit that removes its record or location, or removes its stream or changes what its values mean, deletes it.
func (r *Registry) PushReadings(ctx context.Context, actor Actor, slug string, in []ReadingInput, operation string) (*LiveReceipt, error) {
	if len(in) == 0 || len(in) > MaxReadings {
		return nil, invalid("invalid_body", "one call takes 1 to %d readings", MaxReadings)
	}
	var out *LiveReceipt
	a := act{op: OpPushReadings, slug: slug, operation: operation, holds: true}
	receipt, err := r.commit(ctx, actor, a, func(c *change) error {
		p, err := c.receive(ctx)
		if err != nil {
			return err
		}
		out = &LiveReceipt{Publisher: slug, Refused: []RefusedReading{}, At: c.at}
		for i := range in {
			err := p.keep(ctx, &in[i])
			if refused := (*Error)(nil); errors.As(err, &refused) {
				out.Refused = append(out.Refused, RefusedReading{in[i].Line, refused.Code, refused.Message, refused})
			} else if err != nil {
				return err
			}
		}
		if out.Accepted = p.kept; p.kept == 0 {
			return errNothing
		}
		c.audit.Target = p.named()
		c.audit.Reason = fmt.Sprintf("%d accepted, %d refused", out.Accepted, len(out.Refused))
		return nil
	})
	switch {
	case errors.Is(err, errNothing):
		return out, nil
	case err != nil:
		return nil, err
	case receipt.Repeated:
		return &LiveReceipt{Publisher: slug, Refused: []RefusedReading{}, At: receipt.At, Repeated: true}, nil
	}
	return out, nil
}

// PushReading is PushReadings of one reading, whose refusal is the error.
func (r *Registry) PushReading(ctx context.Context, actor Actor, slug string, in ReadingInput, operation string) (*LiveReceipt, error) {
	out, err := r.PushReadings(ctx, actor, slug, []ReadingInput{in}, operation)
	if err != nil || len(out.Refused) == 0 {
		return out, err
	}
	return nil, out.Refused[0].refusal
}

// push is one run of a push inside its transaction.
type push struct {
	*change
	streams   map[string]*business.SchemaStream
	locations map[string]bool
	records   map[RecordKey]bool // that were looked for
	standing  int                // readings of the publisher, -1 while nobody has asked
	kept      int
	touched   map[string]bool // streams
}

// receive reads what readings are judged by.
func (c *change) receive(ctx context.Context) (*push, error) {
	p := &push{change: c, streams: map[string]*business.SchemaStream{}, locations: map[string]bool{}, records: map[RecordKey]bool{}, standing: -1, touched: map[string]bool{}}
	streams, err := streamsOf(c.row)
	if err != nil {
		return nil, err
	}
	for i := range streams {
		p.streams[streams[i].Key] = &streams[i]
	}
	profile, err := decodeProfile(c.row.Profile)
	if err != nil {
		return nil, err
	}
	for _, id := range locationIDs(profile) {
		p.locations[id] = true
	}
	return p, nil
}

// streamsOf reads the declarations in a stored schema; no schema declares none.
func streamsOf(row *PublisherRow) ([]business.SchemaStream, error) {
	if row.Schema == nil {
		return nil, nil
	}
	schema, err := business.ParseSchema(row.Schema)
	if err != nil {
		return nil, err
	}
	return schema.Streams, nil
}

// keep stores a reading, or returns an *Error that says why not; any other error ends the push.
func (p *push) keep(ctx context.Context, in *ReadingInput) error {
	if in.Err != nil {
		return in.Err
	}
	if err := p.judge(ctx, in); err != nil {
		return err
	}
	value, err := business.Canon(in.Value)
	if err != nil {
		return err
	}
	row := ReadingRow{Stream: in.Stream, Location: in.Location, Value: value, ObservedAt: in.ObservedAt, ReceivedAt: p.at}
	if in.Subject != nil {
		row.Type, row.ID = in.Subject.Type, in.Subject.ID
	}
	stands, err := p.stands(ctx, &row)
	switch {
	case err != nil:
		return err
	case stands != nil && !stands.ObservedAt.Before(row.ObservedAt):
		return refusal(KindConflict, "not_newer", "the reading that stands was observed at %s; only a newer one is kept", stands.ObservedAt.Format(time.RFC3339Nano))
	case stands == nil:
		if err := p.room(ctx); err != nil {
			return err
		}
	}
	if _, err := p.PutReading(ctx, p.row.Slug, &row); err != nil {
		return err
	}
	if stands == nil {
		p.standing++
	}
	p.kept++
	p.touched[in.Stream] = true
	return nil
}

// judge holds a reading against the declaration of its stream and what is published.
func (p *push) judge(ctx context.Context, in *ReadingInput) error {
	stream := p.streams[in.Stream]
	switch {
	case stream == nil:
		return invalid("unknown_stream", "the schema declares no stream %s", quoted(in.Stream))
	case stream.Subject == "" && in.Subject != nil:
		return invalid("unexpected_subject", "the stream %s is about no record; leave the subject out", in.Stream)
	case stream.Subject != "" && (in.Subject == nil || in.Subject.Type != stream.Subject):
		return invalid("invalid_subject", "the stream %s is about a record of the type %s; name it as subject", in.Stream, stream.Subject)
	case stream.ScopedBy == "" && in.Location != "":
		return invalid("unexpected_location", "the stream %s holds everywhere; leave the location out", in.Stream)
	case stream.ScopedBy != "" && in.Location == "":
		return invalid("missing_location", "the stream %s is stated by location; name one", in.Stream)
	case stream.ScopedBy != "" && !p.locations[in.Location]:
		return invalid("unknown_location", "the publisher has no location %s", quoted(in.Location))
	case !answer.Fits(stream.Kind, in.Value):
		return invalid("invalid_value", "the stream %s takes %s", in.Stream, takes[stream.Kind])
	case in.ObservedAt.After(p.at.Add(maxSkew)):
		return invalid("in_the_future", "observed_at lies more than %d seconds ahead of the registry's clock, which says %s", int(maxSkew.Seconds()), p.at.Format(time.RFC3339))
	case in.Subject == nil:
		return nil
	}
	there, known := p.records[*in.Subject]
	if !known {
		_, err := p.Record(ctx, p.row.Slug, in.Subject.Type, in.Subject.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		there = err == nil
		p.records[*in.Subject] = there
	}
	if !there {
		return invalid("unknown_record", "the publisher has no record %s of the type %s", quoted(in.Subject.ID), in.Subject.Type)
	}
	return nil
}

// takes says what the values of a kind are.
var takes = map[string]string{
	"bool": "true or false", "count": "a whole number from 0 on", "quantity": "a number", "money": "a number from 0 on; its currency is declared", "text": "a text that is not empty",
}

// stands reads the reading that a new one would replace, nil when there is none.
func (p *push) stands(ctx context.Context, row *ReadingRow) (*ReadingRow, error) {
	rows, err := p.Readings(ctx, p.row.Slug, row.Stream, row.Type, row.ID, row.Location)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// room refuses one reading more than a publisher may have standing.
func (p *push) room(ctx context.Context) (err error) {
	if p.standing < 0 {
		if p.standing, err = p.CountReadings(ctx, p.row.Slug); err != nil {
			return err
		}
	}
	if p.standing >= maxStanding {
		return refusal(KindLimit, "reading_quota", "%d readings stand, which is the most; those of a removed stream, record or location go with it", maxStanding)
	}
	return nil
}

// named lists the streams that were written, at most a few.
func (p *push) named() string {
	const most = 8
	names := make([]string, 0, len(p.touched))
	for name := range p.touched {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// forget deletes the readings that the new content has no place for, or would give another meaning. Those about removed records are deleted with the records.
func (c *change) forget(ctx context.Context) error {
	was := &c.was
	if !bytes.Equal(was.Schema, c.row.Schema) {
		old, err := streamsOf(was)
		if err != nil {
			return err
		}
		now, err := streamsOf(c.row)
		if err != nil {
			return err
		}
		for _, s := range old {
			same := func(n business.SchemaStream) bool {
				return n.Key == s.Key && n.Subject == s.Subject && n.ScopedBy == s.ScopedBy && n.Kind == s.Kind && n.Unit == s.Unit
			}
			if slices.ContainsFunc(now, same) {
				continue
			}
			if err := c.DeleteReadings(ctx, c.row.Slug, s.Key, ""); err != nil {
				return err
			}
		}
	}
	if bytes.Equal(was.Profile, c.row.Profile) {
		return nil
	}
	old, err := decodeProfile(was.Profile)
	if err != nil {
		return err
	}
	now, err := decodeProfile(c.row.Profile)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, id := range locationIDs(now) {
		kept[id] = true
	}
	for _, id := range locationIDs(old) {
		if kept[id] {
			continue
		}
		if err := c.DeleteReadings(ctx, c.row.Slug, "", id); err != nil {
			return err
		}
	}
	return nil
}

// ReadingView is a reading that stands.
type ReadingView struct {
	Stream     string       `json:"stream"`
	Subject    *SubjectView `json:"subject,omitempty"`
	Location   string       `json:"location,omitempty"`
	Value      jcs.Raw      `json:"value"`
	ObservedAt time.Time    `json:"observed_at"`
	ReceivedAt time.Time    `json:"received_at"`
}

// SubjectView names the record that a reading is about.
type SubjectView struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Readings lists what stands of a stream, "" = of all, in the order of (stream, type, id, location): at most a thousand, and how many more there are.
func (r *Registry) Readings(ctx context.Context, actor Actor, slug, stream string) (list []ReadingView, more int, err error) {
	err = r.view(ctx, actor, OpReadReadings, slug, func(rd Reader) error {
		list, more = []ReadingView{}, 0
		if _, err := rd.Publisher(ctx, slug); err != nil {
			return notPublisher(err)
		}
		rows, err := rd.Readings(ctx, slug, stream, "", "", "")
		if len(rows) > maxListed {
			rows, more = rows[:maxListed], len(rows)-maxListed
		}
		for _, row := range rows {
			v := ReadingView{Stream: row.Stream, Location: row.Location, Value: row.Value, ObservedAt: row.ObservedAt, ReceivedAt: row.ReceivedAt}
			if row.Type != "" {
				v.Subject = &SubjectView{row.Type, row.ID}
			}
			list = append(list, v)
		}
		return err
	})
	return list, more, err
}
