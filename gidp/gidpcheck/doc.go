// Package gidpcheck holds GIDP's obligations as executable scenarios: two sides run the production step function in one process, exchange bytes, and are
// asked what they did.
//
// # A scenario
//
// A scenario is one JSON document: scenario, notes, spec, setup and steps. A is the initiator. setup gives each side its conditions (key to value), policy
// (key to class), authority (level to true, false or approval_required; a level that is not named is false), and optionally conditional_on,
// conditional_on_policy and required_dimensions. A step is one action with its arguments and its expectations, which stand beside it or inside it. What a step
// does not name is free; a name that is not known is an error, so that no expectation is passed over. Members named _comment are ignored.
//
// # How it is run
//
// Both queues are drained after each step, in order for each direction. A held disclosure has not been handed over yet, an undelivered one never is. An ask
// that is not held and meets PROBE approval_required is approved at once. An answer is handed to the asker after an immediately following held ask of the same
// side, because nothing may be sent between qualification and Opportunity. A request that the sender's own side refuses, in a step that expects an answer from
// the wire, is delivered as the bytes of a foreign implementation, and only the answer is looked at.
package gidpcheck
