package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sayso/business/answer"
	"sayso/business/coverage"
)

// storedReadings reads the readings of one call from the store, so that a reading counts in every process as soon as it is durable. What a reading means is in
// the schema that the call answers from: every transaction that reads some makes sure that this content is still the stored one, and is errMoved where another
// process has committed a new one, whose streams may have other units.
//
// The first subject of a stream is read alone. A handler that goes on to other ones does so in the order of records: they are read ahead by pages, so that a
// call reads about as far as it comes. One that goes back has the whole stream read, once.
type storedReadings struct {
	ctx        context.Context
	store      Store
	slug       string
	generation uint64 // of the content
	streams    map[string]*streamReadings
}

// The pages of a stream, in rows.
const (
	firstAhead = 64
	mostAhead  = 4096
)

// streamReadings is what a call has read of one stream by subject. A subject that was asked for stays as it was, also without a reading.
type streamReadings struct {
	bySubject map[coverage.Key][]answer.Reading
	// The page read last holds every subject from the first one to before the last one, or to the end of the stream.
	from, before coverage.Key
	end          bool
	ahead        int // rows of the next page
}

// Latest implements answer.Readings. What it returned once in a call it returns again, so that an answer does not contradict itself.
func (s *storedReadings) Latest(stream string, subject *coverage.Key, location string) ([]answer.Reading, error) {
	if subject == nil || location != "" {
		return s.read(stream, subject, location)
	}
	known := s.streams[stream]
	if known == nil {
		found, err := s.read(stream, subject, "")
		if err != nil {
			return nil, err
		}
		if s.streams == nil {
			s.streams = map[string]*streamReadings{}
		}
		s.streams[stream] = &streamReadings{
			bySubject: map[coverage.Key][]answer.Reading{*subject: found}, from: *subject, before: behind(*subject), ahead: firstAhead,
		}
		return found, nil
	}
	found, asked := known.bySubject[*subject]
	if !asked && !known.holds(*subject) {
		if err := s.turn(stream, known, *subject); err != nil {
			return nil, err
		}
		found = known.bySubject[*subject]
	}
	known.bySubject[*subject] = found
	return found, nil
}

// turn reads the page that begins with a subject.
func (s *storedReadings) turn(stream string, known *streamReadings, subject coverage.Key) error {
	if order(subject, known.from) < 0 {
		rows, err := s.read(stream, nil, "")
		if err != nil {
			return err
		}
		known.keep(rows)
		known.from, known.end = coverage.Key{}, true
		return nil
	}
	rows, err := s.rows(stream, func(ctx context.Context, rd Reader) ([]ReadingRow, error) {
		return rd.ReadingsFrom(ctx, s.slug, stream, subject.Type, subject.ID, known.ahead)
	})
	if err != nil {
		return err
	}
	known.from, known.end = subject, len(rows) < known.ahead
	if !known.end { // the last subject may go on behind the page
		known.before = *rows[len(rows)-1].Subject
		for len(rows) > 0 && *rows[len(rows)-1].Subject == known.before {
			rows = rows[:len(rows)-1]
		}
	}
	if !known.end && known.before == subject {
		known.before = behind(subject)
		if rows, err = s.read(stream, &subject, ""); err != nil {
			return err
		}
	}
	known.ahead = min(known.ahead*4, mostAhead)
	known.keep(rows)
	return nil
}

// keep takes what was read of whole subjects.
func (k *streamReadings) keep(rows []answer.Reading) {
	read := map[coverage.Key][]answer.Reading{}
	for _, row := range rows {
		if row.Subject != nil {
			read[*row.Subject] = append(read[*row.Subject], row)
		}
	}
	for subject, found := range read {
		if _, asked := k.bySubject[subject]; !asked {
			k.bySubject[subject] = found
		}
	}
}

func (k *streamReadings) holds(subject coverage.Key) bool {
	return order(subject, k.from) >= 0 && (k.end || order(subject, k.before) < 0)
}

// order is that of records and of readings.
func order(a, b coverage.Key) int {
	return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
}

// behind is the key next to another one in that order.
func behind(k coverage.Key) coverage.Key { return coverage.Key{Type: k.Type, ID: k.ID + "\x00"} }

func (s *storedReadings) read(stream string, subject *coverage.Key, location string) ([]answer.Reading, error) {
	var typ, id string
	if subject != nil {
		typ, id = subject.Type, subject.ID
	}
	return s.rows(stream, func(ctx context.Context, rd Reader) ([]ReadingRow, error) {
		return rd.Readings(ctx, s.slug, stream, typ, id, location)
	})
}

// rows reads in one transaction with the generation that the rows belong to.
func (s *storedReadings) rows(stream string, read func(context.Context, Reader) ([]ReadingRow, error)) ([]answer.Reading, error) {
	ctx, cancel := context.WithTimeout(s.ctx, storeTimeout)
	defer cancel()
	var out []answer.Reading
	err := s.store.View(ctx, func(rd Reader) error {
		generation, err := rd.Generation(ctx, s.slug)
		if err != nil {
			return err
		}
		if generation != s.generation {
			return errMoved
		}
		rows, err := read(ctx, rd)
		out = make([]answer.Reading, len(rows))
		for i, row := range rows {
			out[i] = answer.Reading{Stream: row.Stream, Location: row.Location, Value: row.Value, ObservedAt: row.ObservedAt, ReceivedAt: row.ReceivedAt}
			if row.Type != "" {
				out[i].Subject = &coverage.Key{Type: row.Type, ID: row.ID}
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("readings of the stream %q: %w", stream, err)
	}
	return out, nil
}
