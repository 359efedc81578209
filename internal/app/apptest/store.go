package apptest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"sayso/internal/app"
	"sayso/internal/store/storetest"
)

// Store is the store in memory that keeps the contract, with switches for what a database does when things go wrong. The zero value is empty and ready.
type Store struct {
	// Fail, when it is set, is asked before every call; its error is what the call returns.
	Fail atomic.Pointer[func() error]
	// BeforeCommit, when it is set, is asked after the function of an Update returned nil; its error undoes the transaction.
	BeforeCommit atomic.Pointer[func() error]
	// Twice lets every Update run its function twice, as after a serialisation failure; the first run is undone.
	Twice atomic.Bool
	// Between, when it is set, is called between the two runs: what it commits is committed first. It is called once.
	Between atomic.Pointer[func()]

	once   sync.Once
	memory *storetest.Memory

	mu   sync.Mutex
	done map[string]bool // operations that were committed
}

func (s *Store) inner() *storetest.Memory {
	s.once.Do(func() { s.memory, s.done = storetest.NewMemory(), map[string]bool{} })
	return s.memory
}

func ask(f *atomic.Pointer[func() error]) error {
	if g := f.Load(); g != nil {
		return (*g)()
	}
	return nil
}

// View runs f over the state of now.
func (s *Store) View(ctx context.Context, f func(app.Reader) error) error {
	if err := ask(&s.Fail); err != nil {
		return err
	}
	return s.inner().View(ctx, f)
}

var errUndone = errors.New("undone")

// Update runs f as the switches say.
func (s *Store) Update(ctx context.Context, operation string, f func(app.Writer) error) error {
	if err := ask(&s.Fail); err != nil {
		return err
	}
	inner := s.inner()
	if s.Twice.Load() && !s.committed(operation) {
		undone := func(w app.Writer) error {
			if err := f(w); err != nil {
				return err
			}
			return errUndone
		}
		if err := inner.Update(ctx, "", undone); !errors.Is(err, errUndone) {
			return err
		}
		if between := s.Between.Swap(nil); between != nil {
			(*between)()
		}
	}
	err := inner.Update(ctx, operation, func(w app.Writer) error {
		if err := f(w); err != nil {
			return err
		}
		return ask(&s.BeforeCommit)
	})
	if err == nil && operation != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done[operation] = true
	}
	return err
}

func (s *Store) committed(operation string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return operation != "" && s.done[operation]
}

// Heads returns the revisions.
func (s *Store) Heads(ctx context.Context) (map[string]uint64, error) {
	if err := ask(&s.Fail); err != nil {
		return nil, err
	}
	return s.inner().Heads(ctx)
}

// Check finds nothing to complain about unless Fail does.
func (s *Store) Check(ctx context.Context) error {
	return errors.Join(ask(&s.Fail), s.inner().Check(ctx))
}

// Describe says what this is.
func (s *Store) Describe(ctx context.Context) (string, int, error) {
	if err := ask(&s.Fail); err != nil {
		return "", 0, err
	}
	return s.inner().Describe(ctx)
}

// Close does nothing.
func (s *Store) Close() error { return nil }
