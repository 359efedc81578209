package session

import (
	"sayso/gidp"
	"sayso/gidp/wire"
)

// The models. Each holds what it needs to reach some rows of the table; together they reach all of them.

func both(b budget) [2]budget { return [2]budget{b, b} }

var (
	consentOpen     = AskConsent{Action: wire.ActDisclose, Scope: []string{openKey}}
	consentGated    = AskConsent{Action: wire.ActDisclose, Scope: []string{gatedKey, localKey, neverKey, networkKey}}
	consentIdentity = AskConsent{Action: wire.ActIdentity, Scope: []string{identityKey}}
	consentHandoff  = AskConsent{Action: wire.ActHandoff, Scope: []string{"urn:t"}}

	yes   = []wire.Result{wire.Compatible}
	yesNo = []wire.Result{wire.Compatible, wire.Incompatible}
	vague = []wire.Result{wire.Compatible, wire.Unknown}
)

// sessionEnd is when the sessions of the search end, in seconds since their start.
const sessionEnd = 7 * 24 * 60 * 60

var (
	asksLapse = []int64{0, 20 * 60}
	allLapse  = []int64{0, sessionEnd - 90, sessionEnd - 30, sessionEnd + 1} // an answer is due, a wait is over, the session is over
)

// searched is a model of two production sessions as they are configured, which may refresh.
func searched(name string, b budget, results []wire.Result, change ...func(*model)) *model {
	m := &model{name: name, cfg: Defaults("core"), budget: both(b), results: results, attributes: []string{openKey},
		held: [2]map[string]gidp.Attribute{searchHeld, searchHeld}, consents: []AskConsent{consentOpen, consentHandoff}, ends: []Event{Leave{}}, refresh: true}
	m.cfg.RefreshWait = 0
	for _, c := range change {
		c(m)
	}
	return m
}

// against is a model of one production session and a peer that follows no rule. It starts before the SessionOpen where that is asked for.
func against(name string, peer int, b budget, letters int8, change ...func(*model)) *model {
	m := searched(name, budget{}, vague, change...)
	m.results = []wire.Result{wire.Compatible, wire.Unknown, wire.Incompatible}
	m.hostile, m.exact = &peer, true
	if m.opening && peer == 1 {
		b.Opens = 1
	}
	m.budget[1-peer], m.budget[peer] = b, budget{Letters: letters}
	return m
}

func refreshing(on bool) func(*model)         { return func(m *model) { m.refresh = on } }
func without(reading mutant) func(*model)     { return func(m *model) { m.cfg.literal = reading } }
func asking(keys ...string) func(*model)      { return func(m *model) { m.attributes = keys } }
func wanting(list ...AskConsent) func(*model) { return func(m *model) { m.consents = list } }
func timed(times []int64) func(*model)        { return func(m *model) { m.times = times } }
func leaving(ends ...Event) func(*model)      { return func(m *model) { m.ends = ends } }
func only(side int, b budget) func(*model)    { return func(m *model) { m.budget[side] = b } }
func from(phase Phase) func(*model)           { return func(m *model) { m.phase = phase } }
func fromOpen(m *model)                       { m.opening, m.budget[0].Opens = true, 1 }
func generous(m *model) {
	m.held[1] = map[string]gidp.Attribute{mutualKey: {Held: true, Class: inSession}}
}
func suspended(m *model) { m.inactive = true }
func agreed(m *model)    { m.permit = []gidp.Permission{gidp.Yes} }
func waiting(m *model)   { m.permit = []gidp.Permission{gidp.Approval} }
func shallow(m *model)   { m.cfg.MaxDepth = wire.DepthNetwork }
func holding(m *model)   { m.probe = []gidp.Permission{gidp.Yes, gidp.No, gidp.Approval} }

// quick are the models that are walked to their end with every change.
func quick() []*model {
	return []*model{
		searched("two questions each", budget{Asks: 2}, vague),
		searched("contradictions after qualification", budget{Asks: 2}, yesNo),
		searched("values after qualification", budget{Asks: 1, Disclosures: 1}, yes),
		searched("questions after consent", budget{Asks: 1, Consents: 1}, yesNo),
		searched("to the hand-over", budget{Asks: 1, Consents: 1, Handoffs: 1}, []wire.Result{wire.Compatible, wire.Conditionally}),
		searched("values after consent", budget{Asks: 1, Consents: 1, Disclosures: 1}, yes, wanting(consentHandoff), agreed),
		searched("an answer that qualifies", budget{Asks: 1, Disclosures: 1}, vague, only(1, budget{Asks: 2})),
		searched("questions that a person answers", budget{Asks: 1}, yesNo, holding, only(0, budget{Asks: 1, Disclosures: 1})),
		searched("from the first word", budget{Leaves: 1}, yes, fromOpen, leaving(Leave{}, Hang{}), timed([]int64{0, sessionEnd + 1}), suspended),
		searched("from the first word, under another version", budget{Versions: 1}, yes, fromOpen),
		searched("one deadline", budget{Asks: 1}, vague, timed(asksLapse)),
		searched("all deadlines", budget{Disclosures: 1}, yes, timed(allLapse), waiting, only(0, budget{Asks: 1, Disclosures: 1})),
		searched("interests that leave", budget{Disclosures: 1, Leaves: 1}, yes, suspended, only(0, budget{Asks: 1, Leaves: 1})),
		searched("other versions", budget{Asks: 1, Versions: 1}, yesNo),
		searched("other versions behind a gate", budget{Disclosures: 1, Versions: 1}, yes, asking(gatedKey), wanting(consentGated),
			only(0, budget{Disclosures: 1, Consents: 1})),
		searched("objects that come twice", budget{Disclosures: 1}, vague, only(0, budget{Asks: 1, Copies: 1}), only(1, budget{Disclosures: 1, Copies: 1})),
		searched("values that are kept back", budget{Disclosures: 1}, yes, asking(openKey, gatedKey, principal, localKey, neverKey, absentKey, networkKey,
			mutualKey, verifiedKey, identityKey)),
		searched("consents that open a gate", budget{Asks: 1, Consents: 1, Disclosures: 1}, yes, wanting(consentGated, consentIdentity),
			asking(gatedKey, identityKey), agreed, only(1, budget{})),
		searched("at the depth of the network", budget{Disclosures: 1, Consents: 1}, yes, shallow, wanting(consentGated)),
		searched("values that both show", budget{Disclosures: 1}, yes, asking(mutualKey, verifiedKey), only(0, budget{Asks: 1, Disclosures: 1})),
		searched("a value that one side shows first", budget{Disclosures: 1}, yes, asking(mutualKey), only(0, budget{Asks: 1, Disclosures: 1}), generous),
		searched("consents that nobody decides", budget{Consents: 1}, yes, timed(allLapse), waiting, only(0, budget{Asks: 1, Consents: 1})),
		searched("consents of interests that leave", budget{Consents: 1, Leaves: 1}, yes, suspended, leaving(Leave{}, Hang{})),
		searched("qualified, and asking", budget{Asks: 1}, yesNo, from(Qualified), holding),
		searched("qualified, with values", budget{Disclosures: 1}, yes, from(Qualified), asking(mutualKey, verifiedKey)),
		searched("qualified, and leaving", budget{Consents: 1, Leaves: 1}, yes, from(Qualified), suspended, leaving(Leave{}, Hang{}), timed(allLapse), waiting),
		searched("qualified, and a value that waits", budget{Disclosures: 1, Leaves: 1}, yes, from(Qualified), suspended),
		searched("consented", budget{Asks: 1}, yesNo, from(Consented), holding),
		searched("consented, with values", budget{Disclosures: 1}, yes, from(Consented), asking(mutualKey, verifiedKey)),
		searched("consented, and leaving", budget{Disclosures: 1, Leaves: 1}, yes, from(Consented), suspended, leaving(Leave{}, Hang{}), timed(allLapse)),
		searched("consented, and a consent that waits", budget{Consents: 1, Leaves: 1}, yes, from(Consented), suspended, timed(allLapse)),
		searched("handed over, and leaving", budget{Handoffs: 1, Leaves: 1}, yes, from(Consented), suspended, leaving(Leave{}, Hang{}), timed(allLapse)),
		searched("handed over under another version", budget{Handoffs: 1, Versions: 1}, yes, from(Consented)),
		against("a hostile responder after a consent", 1, budget{Handoffs: 1}, 2, from(Consented)),
		against("a hostile initiator after a consent", 0, budget{Handoffs: 1}, 2, from(Consented)),
		against("a hostile answer to a consent", 1, budget{Consents: 1}, 2, from(Qualified)),
		against("a hostile responder", 1, budget{Asks: 1}, 2),
		against("a hostile initiator", 0, budget{Asks: 1}, 3),
		against("a hostile responder of an open", 1, budget{}, 2, fromOpen),
		against("a hostile initiator that opens", 0, budget{}, 2, fromOpen),
	}
}

// thorough are the models that need minutes.
func thorough() []*model {
	return []*model{
		searched("two claims and a disclosure", budget{Asks: 2, Disclosures: 1}, []wire.Result{wire.Compatible, wire.Unknown, wire.Incompatible}),
		searched("two questions and one of each against a question", budget{Asks: 2, Disclosures: 1, Consents: 1, Handoffs: 1}, vague,
			only(1, budget{Asks: 1, Consents: 1, Handoffs: 1})),
		searched("deadlines", budget{Asks: 2, Leaves: 1}, vague, timed(asksLapse)),
		searched("objects that come twice, of both", budget{Asks: 1, Disclosures: 1, Copies: 1}, vague),
		searched("interests that leave, of both", budget{Asks: 1, Disclosures: 1, Leaves: 1}, yes, suspended),
		against("a hostile responder that goes on", 1, budget{Asks: 1, Disclosures: 1, Consents: 1, Handoffs: 1}, 3),
		against("a hostile initiator that goes on", 0, budget{Asks: 1, Disclosures: 1, Consents: 1, Handoffs: 1}, 3),
		searched("all deadlines, a question each", budget{Asks: 1, Disclosures: 1}, yes, timed(allLapse)),
		searched("everything, one of each", budget{Asks: 1, Disclosures: 1, Consents: 1, Handoffs: 1, Leaves: 1}, yesNo),
	}
}
