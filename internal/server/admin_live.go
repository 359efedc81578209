package server

import (
	"io"

	"sayso/internal/app"
)

// The content types of readings: one, or one on each line.
const typeReading = "application/json"

var liveTypes = []string{typeReading, typeLines}

// pushLive keeps readings. One alone is answered with its refusal; of several the refused ones are named in the answer, and the others are kept.
func pushLive(c *call) (*app.LiveReceipt, error) {
	kind, err := c.contentType(liveTypes...)
	if err != nil {
		return nil, err
	}
	b := c.body(app.MaxLive)
	data, err := io.ReadAll(b)
	if err != nil {
		return nil, b.cause(err)
	}
	if kind == typeReading {
		in, err := app.ReadReading(data)
		if err != nil {
			return nil, err
		}
		return c.registry.PushReading(c.ctx, c.actor, c.slug(), in, c.operation)
	}
	in, err := app.ReadReadings(data)
	if err != nil {
		return nil, err
	}
	return c.registry.PushReadings(c.ctx, c.actor, c.slug(), in, c.operation)
}

func readLive(c *call) (*readingList, error) {
	list, more, err := c.registry.Readings(c.ctx, c.actor, c.slug(), c.query.Get("stream"))
	return &readingList{list, more}, err
}
