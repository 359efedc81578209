package mcpserve

import (
	"context"

	"sayso/facts"
	"sayso/facts/describe"
)

// Tools is what a server offers: the definitions it lists and the calls it answers. It is used concurrently.
type Tools interface {
	// Definitions lists the tools.
	Definitions() []describe.Operation
	// Instructions tells an assistant what the tools are for.
	Instructions() string
	// Call runs one tool; args is the raw arguments object as received. It returns soon after ctx is done. ok is false
	// when there is no such tool.
	Call(ctx context.Context, name string, args []byte) (result describe.Result, ok bool)
}

// Identity names a server to its clients. Name has the alphabet of a Server Card.
type Identity struct {
	Name, Title, Version string
}

// snapshotTools answers from one snapshot.
type snapshotTools struct {
	snapshot *facts.Snapshot
	today    func() facts.Date
}

func (t *snapshotTools) Definitions() []describe.Operation { return describe.Operations(t.snapshot) }

func (t *snapshotTools) Instructions() string { return describe.Instructions(t.snapshot) }

func (t *snapshotTools) Call(_ context.Context, name string, args []byte) (describe.Result, bool) {
	return describe.Call(t.snapshot, name, args, t.today())
}
