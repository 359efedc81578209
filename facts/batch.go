package facts

import (
	"strconv"
	"strings"
)

// MaxBatch is the most keys of one batch.
const MaxBatch = 50

// Batch is an answer to several keys (F§5.2), one per requested key in request order.
type Batch struct {
	Answers []Answer
	Status  string // stale if any record is, else fresh
	Misses  int    // answers that are no record

	snapshot *Snapshot
}

// SplitKeys splits a comma list; empty elements, none, more than MaxBatch, or one over MaxQuery characters are *ParameterError naming parameter.
func SplitKeys(list, parameter string) ([]string, error) {
	keys := strings.Split(list, ",")
	if err := checkKeys(keys, parameter); err != nil {
		return nil, err
	}
	return keys, nil
}

// checkKeys applies the bounds of a batch.
func checkKeys(keys []string, parameter string) error {
	switch {
	case len(keys) == 0:
		return refuse(parameter, "%s names no key; name 1 to %d", parameter, MaxBatch)
	case len(keys) > MaxBatch:
		return refuse(parameter, "%s names %d keys; at most %d are answered at once", parameter, len(keys), MaxBatch)
	}
	for i, key := range keys {
		if strings.TrimSpace(key) == "" {
			return refuse(parameter, "%s: key %d of %d is empty", parameter, i+1, len(keys))
		}
		if err := checkRequested(key, parameter); err != nil {
			return err
		}
	}
	return nil
}

// Batch answers every key under one selection. The bounds of SplitKeys apply, naming keys.
func (s *Snapshot) Batch(keys []string, sel Selection, today Date) (Batch, error) {
	if err := checkKeys(keys, "keys"); err != nil {
		return Batch{}, err
	}
	b := Batch{Answers: make([]Answer, len(keys)), Status: StatusFresh, snapshot: s}
	for i, key := range keys {
		a, err := s.Get(key, sel, today)
		if err != nil {
			return Batch{}, err
		}
		if a.Outcome != OutcomeRecord {
			b.Misses++
		}
		if a.Status == StatusStale {
			b.Status = StatusStale
		}
		b.Answers[i] = a
	}
	return b, nil
}

// AppendJSON appends the batch document.
func (b *Batch) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"protocol":"`+Protocol+`"`...)
	dst = append(dst, b.snapshot.publisher...)
	dst = append(dst, `,"count":`...)
	dst = strconv.AppendInt(dst, int64(len(b.Answers)), 10)
	dst = append(dst, `,"results":[`...)
	for i := range b.Answers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = b.Answers[i].AppendJSON(dst)
	}
	dst = append(dst, `],"status":"`...)
	dst = append(dst, b.Status...)
	dst = append(dst, '"')
	if b.Misses > 0 {
		dst = append(dst, `,"misses":`...)
		dst = strconv.AppendInt(dst, int64(b.Misses), 10)
	}
	return append(dst, '}')
}
