package answer

import (
	"fmt"

	"sayso/business/coverage"
)

// Answer evaluates one call with the handler it names. Errors are *CallError for a caller's fault; anything else is a fault of this side (-32603).
func (c *Compiled) Answer(call coverage.Call, readings Readings) (*coverage.Outcome, error) {
	switch call.Handler {
	case "knowledge.search":
		return c.search(call, nil, false)
	case "hybrid.resolve":
		return c.search(call, readings, true)
	case "knowledge.get":
		return c.get(call)
	case "knowledge.neighbors":
		return c.neighbors(call)
	case "live.query":
		return c.liveQuery(call, readings)
	case "live.nearest":
		return c.liveNearest(call, readings)
	case "branches.nearest":
		return c.branchesNearest(call)
	}
	return nil, fmt.Errorf("the handler %s is none of this protocol", quoted(call.Handler))
}
