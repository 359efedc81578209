package session

import (
	"strings"

	"sayso/gidp/wire"
)

// entry is a row of the transition table: where an event may lead, as the next phase ("=" for the same one) and the objects sent.
type entry struct {
	id    string // of sec. 5.3, or the reading
	from  string
	event string // the type received, the name of a local event, or "inactive": anything that arrives after the interest left ACTIVE
	to    string
	by    taker
}

// taker says who takes a row.
type taker uint8

const (
	anybody  taker = iota
	breaking       // only a peer that follows no rule makes a production session take it
	nobody         // no peer does: the guard cannot hold in this phase (C-29)
)

const (
	act     = "PROBING QUALIFIED CONSENTED"
	begun   = "REQUESTED PROBING QUALIFIED CONSENTED HANDED_OFF"
	settled = "QUALIFIED CONSENTED"
)

// entries are §17.2 with its readings (sec. 5.3), written apart from the step function. What is not in it has no effect.
var entries = []entry{
	{"S-01", "NONE", "Open", "REQUESTED: SessionOpen", anybody},
	{"S-02", "NONE", "SessionOpen", "PROBING: SessionAccept", anybody},
	{"S-03", "NONE", "SessionOpen", "CLOSED: SessionClose/unsupported", anybody},
	{"S-04", "NONE", "SessionOpen", "CLOSED: SessionClose/unspecified", anybody},
	{"S-05", "REQUESTED", "SessionAccept", "PROBING:", anybody},
	{"S-06", "REQUESTED", "SessionAccept", "CLOSED: SessionClose/unsupported", breaking},
	{"S-07", "REQUESTED", "SessionClose", "CLOSED:", anybody},
	{"S-10", act, "AskClaims", "=: CompatibilityRequest", anybody},
	{"C-06", "PROBING", "Refresh", "=: CompatibilityRequest", anybody},
	{"S-11", act, "CompatibilityRequest", "=: CompatibilityResponse", anybody},
	{"S-11", "PROBING", "CompatibilityRequest", "QUALIFIED: CompatibilityResponse Opportunity", anybody},
	{"S-12", act, "CompatibilityRequest", "=:", anybody},
	{"S-13", act, "Decide", "=: CompatibilityResponse", anybody},
	{"S-13", "PROBING", "Decide", "QUALIFIED: CompatibilityResponse Opportunity", anybody},
	{"S-14", act, "CompatibilityRequest", "CLOSED: SessionClose/declined", anybody},
	{"C-42", act, "Decide", "CLOSED: SessionClose/declined", anybody},
	{"S-15", act, "CompatibilityResponse", "=:", anybody},
	{"S-17", act, "CompatibilityRequest", "CLOSED: CompatibilityResponse SessionClose/incompatible", anybody},
	{"S-17", act, "CompatibilityResponse", "CLOSED: SessionClose/incompatible", anybody},
	{"S-17", act, "Decide", "CLOSED: CompatibilityResponse SessionClose/incompatible", anybody},
	{"S-20", act, "AskDisclosure", "=: DisclosureRequest", anybody},
	{"S-21", act, "DisclosureRequest", "=: DisclosureResponse", anybody},
	{"S-23", act, "DisclosureResponse", "=:", anybody},
	{"S-25", act, "Decide", "=: DisclosureResponse", anybody},
	{"S-25", act, "DisclosureResponse", "=: DisclosureResponse", anybody},
	{"S-25", act, "Show", "=: DisclosureResponse", anybody},
	{"S-26", act, "Tick", "=: DisclosureResponse", anybody},
	{"S-26", act, "Tick", "=: ConsentResponse", anybody},
	{"S-27", act, "Tick", "=:", anybody},
	{"S-27", "HANDED_OFF", "Tick", "=:", anybody},
	{"S-30", "PROBING", "AskConsent", "=: ConsentRequest", anybody},
	{"S-31", settled, "AskConsent", "=: ConsentRequest", anybody},
	{"S-33", act, "ConsentRequest", "=: ConsentResponse", anybody},
	{"S-34", "QUALIFIED", "ConsentRequest", "CONSENTED: ConsentResponse", anybody},
	{"S-34", "QUALIFIED", "ConsentResponse", "CONSENTED:", anybody},
	{"S-34", "QUALIFIED", "Decide", "CONSENTED: ConsentResponse", anybody},
	{"S-36", act, "ConsentResponse", "=:", anybody},
	{"S-36", act, "Decide", "=: ConsentResponse", anybody},
	{"S-40", "PROBING", "CompatibilityResponse", "QUALIFIED: Opportunity", anybody},
	{"S-40", "PROBING", "DisclosureResponse", "QUALIFIED: Opportunity", anybody},
	{"S-40", "PROBING", "DisclosureResponse", "QUALIFIED: DisclosureResponse Opportunity", anybody},
	{"S-40", "PROBING", "ConsentResponse", "QUALIFIED: Opportunity", anybody},
	{"S-40", "PROBING", "Decide", "QUALIFIED: DisclosureResponse Opportunity", anybody},
	{"S-40", "PROBING", "Decide", "QUALIFIED: ConsentResponse Opportunity", anybody},
	{"S-40", "PROBING", "Show", "QUALIFIED: DisclosureResponse Opportunity", anybody},
	{"S-40", "PROBING", "Tick", "QUALIFIED: Opportunity", anybody},
	{"S-40", "PROBING", "Tick", "QUALIFIED: DisclosureResponse Opportunity", anybody},
	{"S-40", "PROBING", "Tick", "QUALIFIED: ConsentResponse Opportunity", anybody},
	{"S-41", "PROBING", "Opportunity", "QUALIFIED:", anybody},
	{"S-42", "PROBING", "Opportunity", "CLOSED: SessionClose/unspecified", breaking},
	{"S-43", settled, "Opportunity", "CLOSED: SessionClose/unspecified", breaking},
	{"S-50", "CONSENTED", "HandOff", "HANDED_OFF: Handoff", anybody},
	{"S-50", "QUALIFIED", "HandOff", "HANDED_OFF: Handoff", nobody},
	{"S-51", "CONSENTED", "Handoff", "CLOSED: SessionClose/completed", anybody},
	{"S-51", "QUALIFIED", "Handoff", "CLOSED: SessionClose/completed", nobody},
	{"S-52", "CONSENTED", "Handoff", "CLOSED: SessionClose/unsupported", anybody},
	{"S-52", "REQUESTED PROBING QUALIFIED HANDED_OFF", "Handoff", "CLOSED: SessionClose/unsupported", breaking},
	{"S-53", "HANDED_OFF", "Handoff", "CLOSED: SessionClose/completed", anybody},
	{"S-54", "HANDED_OFF", "SessionClose", "CLOSED:", anybody},
	{"S-60", begun, "Hang", "CLOSED: SessionClose/unspecified", anybody},
	{"S-61", act, "SessionClose", "CLOSED:", anybody},
	{"S-62", begun, "Tick", "CLOSED:", anybody},
	{"S-63", begun, "Leave", "CLOSED: SessionClose/unspecified", anybody},
	{"S-63", act, "Leave", "CLOSED: DisclosureResponse SessionClose/unspecified", anybody},
	{"S-63", act, "Leave", "CLOSED: ConsentResponse SessionClose/unspecified", anybody},
	{"S-63", begun, "inactive", "CLOSED: SessionClose/unspecified", anybody},
	{"S-63", act, "inactive", "CLOSED: DisclosureResponse SessionClose/unspecified", anybody},
	{"S-63", act, "inactive", "CLOSED: ConsentResponse SessionClose/unspecified", anybody},
	{"S-63", begun, "CarryOn", "=:", anybody},
	{"S-65", "CLOSED", "SessionClose", "CLOSED:", anybody},
}

// refusals are the rows that say that nothing happens, each by what the step function calls it. All are seen.
var refusals = []string{"S-16", "C-08", "S-22", "S-27", "S-32", "S-50", "C-29", "S-64", "C-02", "C-09", "C-16", "C-35", "D1", "S-34", "S-05"}

// table is the entries by their rows, as [edge.row] names them.
var table = func() map[string]entry {
	all := map[string]entry{}
	for _, e := range entries {
		for from := range strings.FieldsSeq(e.from) {
			all[from+" "+e.event+" -> "+strings.Replace(e.to, "=", from, 1)] = e
		}
	}
	return all
}()

// row names what a step did as the table does.
func (e *edge) row() string {
	a, b := e.states()
	name := func(p Phase) string {
		if p == None {
			return "NONE"
		}
		return string(p)
	}
	event := e.event
	if o := e.received(); o != nil && !e.view.Active && o.Type() != wire.TypeSessionClose && o.Type() != wire.TypeSessionOpen {
		event = "inactive"
	}
	row := name(a.Phase) + " " + event + " -> " + name(b.Phase) + ":"
	for _, m := range e.out {
		row += " " + string(m.Object.Type())
		if c, ok := m.Object.(*wire.SessionClose); ok {
			row += "/" + string(c.Reason)
		}
	}
	return row
}
