// Package gidpcheck holds an implementation to GIDP 0.1: this program from inside ([Criteria], [Self]), and an agent or a provider of anybody from outside ([Check]).
//
// # From inside
//
// The obligations K1 to K15 and the finer ones below them are data. Each names tests that are executed: two sides run the production step function in one process,
// exchange bytes, and are asked what they did; others call the production functions for projections, providers, budgets and the carrier. Package oracle/mutants plants
// a mistake against each of these tests and holds that it fails.
//
// # From outside
//
// [Check] looks at what can be seen by a stranger, rule by rule ([Rules]): GA for agents, GP for providers. What a rule found is pass, fail, warning or not_tested with
// the reason; what had no answer is never a pass.
//
//   - It sends at most MaxRequests requests, one at a time. Keys, identifiers, labels and values are random and belong to nobody; a refusal that repeats one is found by it.
//   - At an agent it reads the card, sends hellos and what must be refused, and opens two sessions of ten minutes under core, or else under the first profile of the card
//     that is accepted. It asks one claim on a key that nobody has and one on an identity, and ends both sessions. Nothing of an interest is learned.
//   - At a provider it publishes a projection of a label that nobody else has, changes, finds and withdraws it, and waits for the withdrawal to take effect. Whatever the
//     provider took is withdrawn at the end, also when the check is ended early.
//   - It cannot see what an agent does with an interest, whether a value is evaluated truthfully, or what a log holds: that is what the tests from inside are for.
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
