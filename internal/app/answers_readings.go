package app

import (
	"context"
	"fmt"

	"sayso/business/answer"
	"sayso/business/coverage"
)

// storedReadings reads the readings of one call from the store, so that a reading counts in every process as soon as it is durable. The first subject of a
// stream is read alone. A handler that goes on to a second one goes through all of them: the whole stream is then read at once.
type storedReadings struct {
	ctx     context.Context
	store   Store
	slug    string
	streams map[string]*streamReadings
}

// streamReadings is what a call has read of one stream: of one subject, or all by subject.
type streamReadings struct {
	subject coverage.Key
	alone   []answer.Reading
	all     map[coverage.Key][]answer.Reading
}

// Latest implements answer.Readings. What it returned once in a call it returns again, so that an answer does not contradict itself.
func (s *storedReadings) Latest(stream string, subject *coverage.Key, location string) ([]answer.Reading, error) {
	known := s.streams[stream]
	if subject == nil || location != "" {
		return s.read(stream, subject, location)
	}
	switch {
	case known == nil:
		found, err := s.read(stream, subject, "")
		if err != nil {
			return nil, err
		}
		if s.streams == nil {
			s.streams = map[string]*streamReadings{}
		}
		s.streams[stream] = &streamReadings{subject: *subject, alone: found}
		return found, nil
	case known.subject == *subject:
		return known.alone, nil
	case known.all == nil:
		found, err := s.read(stream, nil, "")
		if err != nil {
			return nil, err
		}
		known.all = map[coverage.Key][]answer.Reading{}
		for _, f := range found {
			if f.Subject != nil {
				known.all[*f.Subject] = append(known.all[*f.Subject], f)
			}
		}
	}
	return known.all[*subject], nil
}

func (s *storedReadings) read(stream string, subject *coverage.Key, location string) ([]answer.Reading, error) {
	var typ, id string
	if subject != nil {
		typ, id = subject.Type, subject.ID
	}
	ctx, cancel := context.WithTimeout(s.ctx, storeTimeout)
	defer cancel()
	var out []answer.Reading
	err := s.store.View(ctx, func(rd Reader) error {
		rows, err := rd.Readings(ctx, s.slug, stream, typ, id, location)
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
