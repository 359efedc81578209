package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sayso/business"
)

// spool keeps the bodies of an import in a temporary file between reading the bundle and the commit: a transaction may run more than once, and memory must
// not grow with the bodies. The file has no name any more while it is used, so that a crash leaves nothing.
type spool struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "sayso-import-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for the import: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlink the temporary file of the import: %w", err), f.Close())
	}
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) close() { s.file.Close() } // nothing in it is needed any more

// incoming is a record of an import: what the commit compares, and where its body lies.
type incoming struct {
	leaf    business.Leaf
	updated time.Time
	offset  int64
	length  int
}

func (s *spool) add(body []byte, leaf business.Leaf, updated time.Time) (incoming, error) {
	in := incoming{leaf: leaf, updated: updated, offset: s.size, length: len(body)}
	s.size += int64(len(body))
	if _, err := s.w.Write(body); err != nil {
		return in, fmt.Errorf("write the temporary file of the import: %w", err)
	}
	return in, nil
}

func (s *spool) flush() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write the temporary file of the import: %w", err)
	}
	return nil
}

func (s *spool) body(in incoming) ([]byte, error) {
	body := make([]byte, in.length)
	if _, err := io.ReadFull(io.NewSectionReader(s.file, in.offset, int64(in.length)), body); err != nil {
		return nil, fmt.Errorf("read the temporary file of the import: %w", err)
	}
	return body, nil
}
