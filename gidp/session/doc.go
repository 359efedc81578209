// Package session is the GIDP session as a step function: a state and an event give the next state, the objects to send, and what the owner of the session has
// to do (§14 to §17).
//
//	Step(env, state, event) -> (state, []Message, []Effect, error)
//
// There is no clock, no randomness and no input or output here. Both sides of a session run the same function; their views differ by role. One durable
// transaction of the caller holds the object that was received, the rows of the ledger, the new state and the objects to send.
//
// # State
//
// The phase is shared by both directions. Beside it stands one slot for each direction, with the disclosure or consent that is outstanding there, so that a
// matching Opportunity may advance the phase under a pending slot. Propositions are kept with a digest of what was asked; values are not kept. [State.Append]
// writes a state canonically.
//
// # What is refused
//
// An error is always a [*Refusal], and then nothing has changed and nothing is sent. For a local event it says what is not allowed; for a received object it
// is the operational outcome that the transport reports. A refusal by policy or authority is no error: it is the answer declined.
//
// # Values
//
// A session holds no value of its owner. A granted DisclosureResponse leaves Step without its value and names the attribute in [Message.Release]; whoever
// holds the values adds it, and an object without it cannot be encoded.
package session
