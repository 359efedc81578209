package server

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"sayso/jcs"
)

const (
	// bodyPatience is how long each bodyStep bytes of a body may take.
	bodyPatience = 30 * time.Second
	bodyStep     = 1 << 20
)

// body is the body of a request: bounded, and read under a deadline that moves on with every bodyStep bytes, so that a large body has the time it needs and
// a client that trickles does not.
type body struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration
	left     int   // until the deadline moves
	err      error // other than io.EOF: what ended it
}

func (c *call) body(limit int64) *body {
	b := &body{ReadCloser: http.MaxBytesReader(c.w, c.r.Body, limit), control: http.NewResponseController(c.w), patience: c.server.patience}
	b.extend()
	return b
}

func (b *body) extend() {
	b.left = bodyStep
	b.control.SetReadDeadline(time.Now().Add(b.patience))
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch b.left -= n; {
	case err == io.EOF:
		// Nothing more is expected: a deadline that passes now would look like a client that has gone.
		b.control.SetReadDeadline(time.Time{})
	case err != nil:
		b.err = err
	case b.left <= 0:
		b.extend()
	}
	return n, err
}

// failure is the refusal that the end of the body asks for, nil when it was read whole.
func (b *body) failure() error {
	var large *http.MaxBytesError
	var slow net.Error
	switch {
	case b.err == nil:
		return nil
	case errors.As(b.err, &large):
		return refused(http.StatusRequestEntityTooLarge, "too_large", "the body is larger than %d bytes", large.Limit)
	case errors.As(b.err, &slow) && slow.Timeout():
		return refused(http.StatusRequestTimeout, "slow_body", "the body came too slowly").hint("each MiB has %d seconds", int(bodyPatience.Seconds()))
	}
	return refused(http.StatusBadRequest, "incomplete_body", "the body could not be read to its end")
}

// cause is what a refusal of something that was read from the body follows from: the end of the body, when that was not the body's own.
func (b *body) cause(err error) error {
	if failure := b.failure(); failure != nil {
		return failure
	}
	return err
}

// bytes reads a whole JSON body.
func (c *call) bytes() ([]byte, error) {
	if _, err := c.contentType("application/json"); err != nil {
		return nil, err
	}
	b := c.body(maxBody)
	data, err := io.ReadAll(b)
	if err != nil {
		return nil, b.failure()
	}
	return data, nil
}

// contentType is the type of the body, which must be one of those listed, in UTF-8.
func (c *call) contentType(types ...string) (string, error) {
	stated, parameters, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if charset := parameters["charset"]; err != nil || !slices.Contains(types, stated) || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return "", refused(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body is none of: %s, in UTF-8", strings.Join(types, ", "))
	}
	return stated, nil
}

// read decodes a JSON body strictly: one object, no member that is unknown, twice there or null, and every member that is required. A type without required
// members takes no body, too.
func read[B any](c *call) (B, error) {
	var in B
	must := requiredMembers(reflect.TypeFor[B]())
	if c.r.ContentLength == 0 && len(must) == 0 {
		return in, nil
	}
	data, err := c.bytes()
	if err != nil {
		return in, err
	}
	members, err := jcs.Members(data)
	if err != nil {
		return in, invalidBody(err)
	}
	for _, m := range members {
		if string(m.Value) == "null" {
			return in, refused(http.StatusBadRequest, "invalid_body", "the member %q is null; leave it out", m.Name)
		}
	}
	for _, name := range must {
		if !slices.ContainsFunc(members, func(m jcs.Member) bool { return m.Name == name }) {
			return in, refused(http.StatusBadRequest, "invalid_body", "the member %q is missing", name)
		}
	}
	if err := jcs.DecodeKnown(data, &in); err != nil {
		return in, invalidBody(err)
	}
	return in, nil
}

func invalidBody(err error) error {
	return refused(http.StatusBadRequest, "invalid_body", "the body is not what is expected here: %v", err)
}
