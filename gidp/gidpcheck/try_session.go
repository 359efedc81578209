package gidpcheck

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// What the criteria rest on inside of a session.

// party is an interest whose conditions are evaluated and never told, but for field.
func party(name string, hold map[string]string) *interest.Interest {
	i := holder(name)
	i.Attributes = map[string]jcs.Raw{gidp.PrincipalIdentity: i.Attributes[gidp.PrincipalIdentity]}
	for key, value := range hold {
		i.Attributes[key] = jcs.Raw(value)
	}
	i.Policy = interest.Policy{Entries: map[string]gidp.Entry{gidp.PrincipalIdentity: inside, "field": told}}
	return i
}

// fourSituations is K1: latent interest, confidential demand, private offer and interdependent interest. Only the interests differ.
func fourSituations() error {
	seller := map[string]string{"price": `{"min":250}`, "place": `"harbour"`, "field": `"optics"`}
	buyer := map[string]string{"price": `{"max":400}`, "place": `"north"`, "field": `"optics"`}
	depends := func(i *interest.Interest, class gidp.Entry, on string, provides ...string) *interest.Interest {
		i.ConditionalOn, i.Provides = []string{on}, provides
		for _, key := range []string{gidp.Provides, gidp.Requires, gidp.ConditionalOn} {
			i.Policy.Entries[key] = class
		}
		return i
	}
	for name, c := range map[string]struct {
		a, b       *interest.Interest
		contingent []string
		claims     []wire.Claim
	}{
		"latent interest": {a: party("a", buyer), b: party("b", seller)},
		"private offer":   {a: party("a", seller), b: party("b", buyer)},
		"confidential demand": {a: party("a", map[string]string{"price": `310`, "field": `"optics"`}),
			b: party("b", map[string]string{"price": `{"min":0,"max":999}`, "field": `"optics"`})},
		"interdependent": {a: depends(party("a", buyer), withheld, "anchor"), b: depends(party("b", seller), inside, "licence", "press"),
			contingent: []string{"licence", wire.Undisclosed}, claims: []wire.Claim{{Key: gidp.Provides, Operator: wire.OpIntersects, Value: jcs.Raw(`["press"]`)}}},
	} {
		t := on(market(), c.a, c.b, wire.DepthSession)
		t.A.Required, t.B.Required = []string{"price"}, []string{"price"}
		for _, i := range []*interest.Interest{c.a, c.b} {
			t.want(!i.Check(market()).Failed(), "%s: the interest is not sound", name)
		}
		claims := append(c.a.Asks(t.A.Profile, t.A.Towards()), wire.Claim{Key: "field", Operator: wire.OpIntersects, Value: jcs.Raw(`"optics"`)})
		claims = append(claims, c.claims...)
		t.do(t.A, session.AskClaims{Claims: claims})
		t.both(session.Qualified)
		lead, _ := t.A.lead()
		t.want(lead != nil && slices.Equal(lead.ContingentOn, append([]string{}, c.contingent...)) && lead.EvaluatedDimensions == len(claims),
			"%s: %+v after %d questions", name, lead, len(claims))
		for _, s := range []*Side{t.A, t.B} {
			t.silent(s, "250", "400", ":310", "harbour", "person-", "anchor")
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// lead is the Opportunity that a side emitted, nil when there is none, and how many there are.
func (s *Side) lead() (*wire.Opportunity, int) {
	list := s.Objects(wire.TypeOpportunity)
	if len(list) == 0 {
		return nil, 0
	}
	o, err := wire.Decode(list[0])
	lead, ok := o.(*wire.Opportunity)
	if err != nil || !ok {
		return nil, len(list)
	}
	return lead, len(list)
}

// pry asks a side for everything it holds, in every way there is.
func (t *trial) pry(to *Side) {
	for _, key := range []string{"hidden", "barred", "circle", "asked", "guarded", gidp.PrincipalIdentity} {
		t.disclosure(to, key)
		if to.State.Recv.Kind != session.SlotEmpty { // the Principal says no
			t.then(func() error { return t.Do(to, session.Decide{Ref: to.State.Recv.ID}) })
		}
		t.result(to, key, wire.OpEquals, `"guess"`)
		t.result(to, key, wire.OpIntersects, `["guess"]`)
		t.consented(to, wire.ActIdentity, key)
	}
}

// nothingLocalLeaves is K2.
func nothingLocalLeaves() error {
	t := met()
	t.B.Interest.PrincipalRef, t.B.Interest.Policy.Decoys = "principal-b", []string{"decoy-b"}
	t.pry(t.B)
	t.silent(t.B, "hidden-b", "barred-b", "circle-b", "asked-b", "guarded-b", "person-b", "principal-b", "decoy-b", "line-b", "evaluation_only")
	t.discloses(t.B, "hidden", wire.Refused)
	return t.err
}

// neverLeavesNoTrace is K2a: a never attribute, one of another value and a decoy give the same bytes.
func neverLeavesNoTrace() error {
	var said []string
	var err error
	for _, edit := range []func(*interest.Interest){
		func(*interest.Interest) {},
		func(i *interest.Interest) { i.Attributes["barred"] = jcs.Raw(`[7,8]`) },
		func(i *interest.Interest) {
			delete(i.Attributes, "barred")
			delete(i.Policy.Entries, "barred")
			i.Policy.Decoys = []string{"barred"}
		},
	} {
		i := holder("b")
		edit(i)
		i.ConditionalOn, i.Policy.Entries[gidp.ConditionalOn] = []string{"anchor"}, forever
		t := on(Core(), holder("a"), i, wire.DepthSession)
		t.pry(t.B)
		t.answers(t.B, "barred", wire.OpEquals, `"x"`, wire.Declined)
		t.silent(t.B, "barred-b", "anchor", wire.Undisclosed)
		said, err = append(said, t.B.said()), errors.Join(err, t.err)
	}
	if err == nil && (said[0] != said[1] || said[0] != said[2]) {
		err = errors.New("a peer can tell what is never told from a decoy")
	}
	return err
}

// everyObjectHasItsRow is K3: the same inputs give the same bytes, and each object names the row or transition that it follows from.
func everyObjectHasItsRow() error {
	play := func() (string, error) {
		t := led()
		t.pry(t.B)
		t.consents(t.B, wire.ActDisclose, wire.Granted, "asked")
		t.discloses(t.B, "asked", wire.Granted)
		for _, s := range []*Side{t.A, t.B} {
			for n, row := range s.Rows {
				t.want(row != "", "no row justifies %s", s.Sent[n])
			}
		}
		return t.A.said() + t.B.said(), t.err
	}
	one, err := play()
	two, again := play()
	if err == nil && one != two {
		err = errors.New("the same inputs gave other objects")
	}
	return errors.Join(err, again)
}

// decisionOrder is K3a: a request that two rows refuse is answered by the earlier one, and all refusals look alike.
func decisionOrder() error {
	body := ""
	for _, c := range ordered {
		t := on(Core(), holder("a"), holder("b"), c.depth)
		if c.set {
			t.B.Interest.Authority[c.level] = c.permission
		}
		q := wants(t.World, "q-1", c.key)
		q.RequestedSurface = c.surface
		out, refusal := t.tell(t.B, q)
		got, ok := first[*wire.DisclosureResponse](t, out, refusal)
		if !ok {
			return t.err
		}
		row := t.B.Rows[len(t.B.Rows)-1]
		t.want(got.Status == c.want && row == c.row, "%s: %s by %s, want %s by %s", c.name, got.Status, row, c.want, c.row)
		if got.Status == wire.Refused {
			got.Attribute, got.Head = "x", wire.Head{SessionID: "x", ExpiresAt: Epoch}
			text, err := wire.Encode(got)
			t.want(err == nil && (body == "" || body == string(text)), "%s: a refusal that looks different: %s", c.name, text)
			body = string(text)
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// ordered are requests for a disclosure with the row that decides each.
var ordered = []struct {
	name, key, surface string
	depth              wire.Depth
	set                bool
	level              gidp.Level
	permission         gidp.Permission
	want               wire.Grant
	row                string
}{
	{"D2 before D5", "guarded", "session", wire.DepthSession, true, gidp.Disclose, gidp.No, wire.Refused, "D2"},
	{"D2 before D2a", gidp.PrincipalIdentity, "session", wire.DepthSession, true, gidp.Introduce, gidp.No, wire.Refused, "D2"},
	{"D2a before D4", gidp.PrincipalIdentity, "session", wire.DepthNetwork, false, 0, 0, wire.Refused, "D2a"},
	{"D2a before D5", gidp.PrincipalIdentity, "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Refused, "D2a"},
	{"D3 before D4b", "circle", "public", wire.DepthSession, false, 0, 0, wire.Refused, "D3"},
	{"D3 before D5", "circle", "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Refused, "D3"},
	{"D4 before D4b", "deep", "public", wire.DepthNetwork, false, 0, 0, wire.Refused, "D4"},
	{"D4 before D5", "guarded", "session", wire.DepthNetwork, false, 0, 0, wire.Refused, "D4"},
	{"D4a before D4b", "hidden", "public", wire.DepthSession, false, 0, 0, wire.Refused, "D4a"},
	{"D4a before D5", "absent", "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Refused, "D4a"},
	{"D4a never", "barred", "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Refused, "D4a"},
	{"D4b before D5", "guarded", "network", wire.DepthSession, false, 0, 0, wire.Refused, "D4b"},
	{"D5 before D5a", "asked", "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Pending, "D5"},
	{"D5 before D5b", "swap", "session", wire.DepthSession, true, gidp.Disclose, gidp.Approval, wire.Pending, "D5"},
	{"D5 gate", "guarded", "session", wire.DepthSession, false, 0, 0, wire.Pending, "D5"},
	{"D5a", "asked", "session", wire.DepthSession, false, 0, 0, wire.Refused, "D5a"},
	{"D5b reciprocal", "swap", "session", wire.DepthSession, false, 0, 0, wire.GrantedIfReciprocal, "D5b"},
	{"D5b verified", "proof", "session", wire.DepthSession, false, 0, 0, wire.GrantedIfVerified, "D5b"},
	{"D6", "deep", "session", wire.DepthSession, false, 0, 0, wire.Granted, "D6"},
}

// oneTerminalAnswer is K6a.
func oneTerminalAnswer() error {
	for _, granted := range []bool{true, false} {
		t := met()
		t.then(func() error { return t.Do(t.A, session.AskDisclosure{Attribute: "guarded"}) })
		t.then(t.Drain)
		again := &wire.DisclosureResponse{Head: head(t.World), RequestRef: t.A.State.Sent.ID, Attribute: "guarded", Status: wire.Pending}
		t.refuses(t.A, again, "a second provisional answer")
		t.do(t.B, session.Decide{Ref: t.B.State.Recv.ID, Granted: granted})
		t.want(t.A.State.Sent.Kind == session.SlotEmpty && t.B.State.Recv.Kind == session.SlotEmpty, "the request is not settled after its terminal answer")
		t.denies(t.B, session.Decide{Ref: again.RequestRef, Granted: true}, "a request is decided twice")
		again.Status = wire.Refused
		t.refuses(t.A, again, "a second terminal answer")
		t.want(len(t.B.Objects(wire.TypeDisclosureResponse)) == 2, "%d answers, want one provisional and one terminal", len(t.B.Objects(wire.TypeDisclosureResponse)))
		if t.err != nil {
			return t.err
		}
	}
	t := met()
	old := question(t.World, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`))
	old.ExpiresAt = t.Now.Add(-2 * time.Minute)
	t.refuses(t.B, old, "an expired request")
	t.then(func() error { return t.Pass(8 * 24 * time.Hour) })
	t.both(session.Closed)
	return t.err
}

// negotiation is K6b.
func negotiation() error {
	t := on(Core(), holder("a"), holder("b"), wire.DepthNetwork)
	t.want(t.A.State.Depth == wire.DepthNetwork && t.B.State.Depth == wire.DepthNetwork, "the session is deeper than it was offered")
	t.discloses(t.B, "deep", wire.Refused)
	for name, edit := range map[string]func(*wire.SessionOpen){
		"a profile": func(o *wire.SessionOpen) { o.Profile = "urn:other" },
		"a feature": func(o *wire.SessionOpen) { o.Features = []wire.Feature{wire.FeatureMultiParty} },
	} {
		t := &trial{World: NewWorld(Core(), holder("a"), holder("b"))}
		o := &wire.SessionOpen{Head: head(t.World), RequestID: "r-1", Initiator: "x", MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{}}
		edit(o)
		if o.Profile == "core" {
			out, refusal := t.tell(t.B, o)
			accept, ok := first[*wire.SessionAccept](t, out, refusal)
			t.want(!ok || len(accept.Features) == 0, "%s that is not there is accepted", name)
		} else {
			t.closes(t.B, o, wire.ReasonUnsupported)
		}
		if t.err != nil {
			return t.err
		}
	}
	for name, edit := range map[string]func(*wire.SessionAccept){
		"another profile":     func(o *wire.SessionAccept) { o.Profile = "urn:other" },
		"a feature not asked": func(o *wire.SessionAccept) { o.Features = []wire.Feature{wire.FeatureMultiParty} },
	} {
		s := &trial{World: NewWorld(Core(), holder("a"), holder("b"))}
		s.then(func() error { return s.Do(s.A, session.Open{SessionID: "session-1", Self: "x", Purpose: "trade"}) })
		o := &wire.SessionAccept{Head: head(s.World), RequestRef: "r-1", Responder: "y", MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{}}
		edit(o)
		s.closes(s.A, o, wire.ReasonUnsupported)
		t.want(s.err == nil, "%s: %v", name, s.err)
	}
	return t.err
}

// operators is K6c.
func operators() error {
	t := met()
	for _, c := range []wire.Claim{claim("", "field", wire.OpOverlaps, `{"min":1}`), claim("", "field", wire.OpEquals, `5`), claim("", "width", wire.OpOverlaps, `{"min":9,"max":3}`),
		claim("", "width", wire.OpEquals, `5`), claim("", "field", wire.OpCompatibleWith, `"optics"`)} {
		t.answers(t.B, c.Key, c.Operator, string(c.Value), wire.Unknown)
	}
	t.answers(t.B, "width", wire.OpOverlaps, `{"min":9}`, wire.Compatible)
	for what, q := range map[string]*wire.CompatibilityRequest{
		"a claim_id that was used":         question(t.World, "q-1", claim("x-1.0", "field", wire.OpEquals, `"optics"`)),
		"superseding what was never asked": question(t.World, "q-2", claim("q-2.0", "field", wire.OpEquals, `"optics"`, "q-9.0")),
		"superseding one claim twice": question(t.World, "q-3", claim("q-3.0", "field", wire.OpEquals, `"optics"`, "x-1.0"), claim("q-3.1", "field",
			wire.OpEquals, `"optics"`, "x-1.0")),
		"superseding in the same request":   question(t.World, "q-4", claim("q-4.0", "field", wire.OpEquals, `"x"`), claim("q-4.1", "field", wire.OpEquals, `"optics"`, "q-4.0")),
		"a request_id that was used before": question(t.World, "x-1", claim("q-5.0", "field", wire.OpEquals, `"optics"`)),
	} {
		t.refuses(t.B, q, what)
	}
	s := on(market(), party("a", nil), party("b", map[string]string{"place": `"harbour"`}), wire.DepthSession)
	s.answers(s.B, "place", wire.OpIntersects, `["land"]`, wire.Compatible)
	s.answers(s.B, "place", wire.OpIntersects, `["harbour"]`, wire.Unknown) // the cut is above it
	return errors.Join(t.err, s.err)
}

// qualification is K6d.
func qualification() error {
	t := met()
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c1", "absent", wire.OpEquals, `"x"`), claim("c2", "field", wire.OpEquals, `"optics"`)}})
	t.both(session.Probing) // unknown blocks
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c3", "hidden", wire.OpEquals, `"x"`, "c1")}})
	t.both(session.Probing) // declined blocks
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c4", "field", wire.OpEquals, `"optics"`, "c3")}})
	t.both(session.Qualified)
	s := on(market(), party("a", map[string]string{"price": `{"max":250}`}), party("b", map[string]string{"price": `{"min":200}`}), wire.DepthSession)
	s.do(s.A, session.AskClaims{Claims: s.A.Interest.Asks(s.A.Profile, s.A.Towards())})
	s.both(session.Probing) // what is borderline qualifies nobody by itself
	return errors.Join(t.err, s.err)
}

// computedAnew is K6e.
func computedAnew() error {
	t := met()
	t.do(t.B, session.AskDisclosure{Attribute: "guarded"}) // A's Principal has not decided
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c1", "field", wire.OpEquals, `"optics"`)}})
	t.both(session.Probing)
	t.do(t.A, session.Decide{Ref: t.A.State.Recv.ID, Granted: true})
	t.both(session.Probing) // the report is older than that
	t.do(t.A, session.Refresh{Claim: claim("", "field", wire.OpEquals, `"optics"`)})
	t.both(session.Qualified)
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c2", "absent", wire.OpEquals, `"x"`)}})
	t.both(session.Qualified)
	_, n := t.A.lead()
	t.want(n == 1, "%d Opportunities", n)
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c3", "field", wire.OpEquals, `"acoustics"`)}})
	t.both(session.Closed)
	t.refuses(t.B, question(t.World, "q-9", claim("q-9.0", "field", wire.OpEquals, `"optics"`)), "a question after the close")
	t.want(session.Status(t.Env(t.B), t.B.State) == wire.StatusIncompatible, "the status does not outlive the close")
	return t.err
}

// opportunity is K6f.
func opportunity() error {
	ask := func() *trial {
		t := met()
		t.answers(t.B, "field", wire.OpEquals, `"optics"`, wire.Compatible)
		return t
	}
	good := wire.Opportunity{Structure: "any", EvaluatedDimensions: 1, CompatibleDimensions: 1}
	t := ask()
	good.Head = head(t.World)
	out, refusal := t.tell(t.B, &good)
	t.want(refusal == nil && len(out) == 0 && t.B.State.Phase == session.Qualified, "a matching Opportunity is not taken: %v", refusal)
	t.closes(t.B, &good, wire.ReasonUnspecified) // there is one
	for _, edit := range []func(*wire.Opportunity){
		func(o *wire.Opportunity) { o.EvaluatedDimensions = 2 }, func(o *wire.Opportunity) { o.CompatibleDimensions = 0 },
		func(o *wire.Opportunity) { o.OpenConditions = []string{"field"} },
		func(o *wire.Opportunity) {
			o.IdentityStatus = map[string]wire.IdentityStatus{"responder": wire.IdentityGranted}
		},
	} {
		wrong := good
		edit(&wrong)
		s := ask()
		s.closes(s.B, &wrong, wire.ReasonUnspecified)
		t.want(s.err == nil, "%+v: %v", wrong, s.err)
	}
	s := led()
	s.closes(s.A, &good, wire.ReasonUnspecified) // a responder emits none
	lead, n := s.A.lead()
	t.want(n == 1 && lead.EvaluatedDimensions == 1 && lead.CompatibleDimensions == 1 && len(lead.OpenConditions) == 0, "%+v", lead)
	return errors.Join(t.err, s.err)
}

// operationalOutcomes is K6g.
func operationalOutcomes() error {
	t := met()
	for _, o := range []wire.Object{
		&wire.CompatibilityResponse{Head: head(t.World), RequestRef: "r-9", Results: []wire.Outcome{{ClaimID: "c", Key: "k", Result: wire.Compatible}},
			SessionStatus: wire.StatusPotential},
		&wire.DisclosureResponse{Head: head(t.World), RequestRef: "r-9", Attribute: "deep", Status: wire.Granted, Value: jcs.Raw(`1`)},
		&wire.SessionClose{Head: wire.Head{SessionID: "other", ExpiresAt: t.Now.Add(time.Hour)}, Reason: wire.ReasonUnspecified},
	} {
		t.refuses(t.B, o, string(o.Type())+" that nobody asked for")
	}
	_, refusal := t.tell(t.B, question(t.World, "x-0", claim("c", "guarded", wire.OpEquals, `"guess"`), claim("d", "guarded", wire.OpEquals, `"guess"`, "e")))
	t.want(refusal != nil && !strings.Contains(refusal.Error(), "guess") && !strings.Contains(refusal.Error(), "guarded"), "an outcome tells of the object: %v", refusal)
	t.B.Interest.Authority[gidp.Disclose] = gidp.No
	t.discloses(t.B, "guarded", wire.Refused)
	t.B.Interest.Authority[gidp.Introduce] = gidp.No
	t.consents(t.B, wire.ActDisclose, wire.Refused, "asked")
	t.B.Interest.Authority[gidp.Probe] = gidp.No
	t.closes(t.B, question(t.World, "q-1", claim("q-1.0", "field", wire.OpEquals, `"optics"`)), wire.ReasonDeclined)
	return t.err
}

// declinedAndUnspecified is K8.
func declinedAndUnspecified() error {
	t := met()
	q := question(t.World, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`), claim("c2", "field", wire.OpEquals, `"acoustics"`))
	q.AllowedResults = []wire.Result{wire.Declined}
	out, refusal := t.tell(t.B, q)
	if answer, ok := first[*wire.CompatibilityResponse](t, out, refusal); ok {
		for _, r := range answer.Results {
			t.want(r.Result == wire.Declined, "%s is none of the results that were allowed", r.Result)
		}
		t.want(answer.SessionStatus != wire.StatusPotential, "a contradiction that may not be said qualifies")
	}
	t.do(t.B, session.Hang{})
	t.both(session.Closed)
	t.want(t.A.State.Reason == wire.ReasonUnspecified, "the reason is %s, though none was given", t.A.State.Reason)
	return t.err
}

// gates is K9.
func gates() error {
	t := met()
	t.discloses(t.B, "asked", wire.Refused)
	t.consents(t.B, wire.ActDisclose, wire.Granted, "asked")
	t.discloses(t.B, "asked", wire.Granted)
	for _, granted := range []bool{false, true} { // each request is decided by itself
		t.discloses(t.B, "guarded", wire.Pending)
		t.then(func() error { return t.Do(t.B, session.Decide{Ref: t.B.State.Recv.ID, Granted: granted}) })
		got := t.B.Sent[len(t.B.Sent)-1]
		t.want(strings.Contains(string(got), "guarded-b") == granted, "a decision %v is answered %s", granted, got)
	}
	t.consents(t.B, wire.ActDisclose, wire.Pending, "guarded")
	return t.err
}

// identityThreeRoutes is K9a.
func identityThreeRoutes() error {
	const key = gidp.PrincipalIdentity
	shut := func(t *trial) {
		t.answers(t.B, key, wire.OpEquals, `"person-b"`, wire.Declined)
		t.discloses(t.B, key, wire.Refused)
		t.consents(t.B, wire.ActDisclose, wire.Refused, key, "asked")
	}
	t := met()
	shut(t)
	t.consents(t.B, wire.ActIdentity, wire.Refused, key) // before qualification
	t.silent(t.B, "person-b")
	s := led()
	shut(s)
	s.consents(s.B, wire.ActIdentity, wire.Granted, key)
	s.answers(s.B, key, wire.OpEquals, `"person-b"`, wire.Compatible)
	s.discloses(s.B, key, wire.Granted)
	s.B.Interest.Authority[gidp.Introduce] = gidp.No
	shut(s)
	return errors.Join(t.err, s.err)
}

// retention is K9b: a request says what its owner keeps, and nothing where nothing was said.
func retention() error {
	for _, say := range []wire.Retention{"", wire.RetainSession, wire.RetainUntilHandoff} {
		t := met()
		t.do(t.A, session.AskDisclosure{Attribute: "deep", Retention: say})
		sent := t.A.Objects(wire.TypeDisclosureRequest)
		t.want(len(sent) == 1, "%d requests", len(sent))
		t.then(func() error {
			o, err := wire.Decode(sent[0])
			if q, ok := o.(*wire.DisclosureRequest); ok && q.Retention != say {
				return errors.New("a request states a retention that its owner did not")
			}
			return err
		})
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// levels is K10.
func levels() error {
	var t trial
	all := gidp.Authority{}
	for i := range all {
		all[i] = gidp.Yes
	}
	t.want(all.At(gidp.Commit) == gidp.No, "COMMIT is given")
	for _, preset := range []string{"conservative", "moderate", "advanced"} {
		a, ok := gidp.Delegation(preset)
		t.want(ok && a.At(gidp.Introduce) == gidp.Approval && a.At(gidp.Commit) == gidp.No, "the preset %s gives more than a person decides", preset)
	}
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		one := gidp.Authority{}
		one[level] = gidp.Yes
		for other := gidp.Observe; other <= gidp.Commit; other++ {
			t.want(other == level || one.At(other) == gidp.No, "%v follows from %v", other, level)
		}
		back, ok := gidp.ParseLevel(level.String())
		t.want(ok && back == level, "%v is not one of eight names", level)
	}
	return t.err
}

// noCommitment is K10a.
func noCommitment() error {
	t := met()
	q, err := wire.Encode(consent(t.World, "q-1", wire.ActDisclose, "asked"))
	t.want(err == nil && strings.Contains(string(q), `"binding_commitment":false`), "%v: %s", err, q)
	h, err := wire.Encode(&wire.Handoff{Head: head(t.World), Target: wire.Target{Kind: wire.TargetHuman}, AuthorizedScope: []wire.Scope{"INTRODUCE"}, RequiresPresence: true})
	t.want(err == nil, "%v", err)
	for _, data := range []string{strings.Replace(string(q), `"binding_commitment":false`, `"binding_commitment":true`, 1), strings.Replace(string(h), `"INTRODUCE"`, `"COMMIT"`, 1)} {
		_, err := wire.Decode([]byte(data))
		t.want(err != nil, "a commitment is read: %s", data)
	}
	return t.err
}

// leavingActive is K11.
func leavingActive() error {
	i := holder("b")
	var t trial
	for _, change := range []interest.Change{interest.Suspend, interest.Revoke, interest.Supersede} {
		_, duties, err := i.Next(interest.Active, change, Epoch)
		t.want(err == nil && slices.Equal(duties, []interest.Duty{interest.WithdrawProjections, interest.CloseSessions, interest.DiscardInbox}), "%s: %v, %v", change, duties, err)
	}
	_, duties, err := i.Next(interest.Active, interest.Expire, i.ExpiresAt)
	t.want(err == nil && len(duties) == 3, "expiry: %v, %v", duties, err)
	s := met()
	s.discloses(s.B, "guarded", wire.Pending)
	before := len(s.B.Sent)
	s.then(func() error { return s.Do(s.B, session.Leave{}) })
	s.want(len(s.B.Sent) == before+2 && strings.Contains(string(s.B.Sent[before]), `"declined"`) && strings.Contains(string(s.B.Sent[before+1]), `"unspecified"`),
		"leaving is not an answer to what is open and then a close")
	gone := met()
	gone.B.Active = false
	gone.closes(gone.B, question(gone.World, "q-1", claim("q-1.0", "field", wire.OpEquals, `"optics"`)), wire.ReasonUnspecified)
	gone.denies(gone.B, session.AskDisclosure{Attribute: "deep"}, "an interest that is not active asks")
	return errors.Join(t.err, s.err, gone.err)
}

// inferredIsConfirmed is K11a.
func inferredIsConfirmed() error {
	i := holder("b")
	i.Origin = interest.Inferred
	for _, from := range []struct {
		state  interest.State
		change interest.Change
	}{{interest.Draft, interest.Activate}, {interest.Suspended, interest.Resume}} {
		if state, _, err := i.Next(from.state, from.change, Epoch); !errors.Is(err, interest.ErrUnconfirmed) || state == interest.Active {
			return errors.New("an inferred interest is used before its Principal has confirmed it")
		}
	}
	i.Confirmed = true
	_, _, err := i.Next(interest.Draft, interest.Activate, Epoch)
	return err
}

// handoff is K12.
func handoff() error {
	target := wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:desk"}
	foreign := func(t *trial) wire.Object {
		return &wire.Handoff{Head: head(t.World), Target: target, RequiresPresence: true}
	}
	t := met()
	t.denies(t.A, session.HandOff{Target: target}, "a hand-over before qualification")
	t.closes(t.B, foreign(t), wire.ReasonUnsupported)
	s := led()
	s.denies(s.A, session.HandOff{Target: target}, "a hand-over that nobody consented to")
	s.closes(s.B, foreign(s), wire.ReasonUnsupported)
	u := led()
	u.do(u.A, session.AskConsent{Action: wire.ActHandoff, Scope: []string{"urn:desk"}})
	u.denies(u.A, session.HandOff{Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:other"}}, "a hand-over to another target")
	u.do(u.A, session.HandOff{Target: target})
	u.both(session.Closed)
	u.want(u.A.State.Reason == wire.ReasonCompleted, "a hand-over ends as %s", u.A.State.Reason)
	return errors.Join(t.err, s.err, u.err)
}

// dependencies is K13a.
func dependencies() error {
	make := func(features ...wire.Feature) *trial {
		b := party("b", map[string]string{"field": `"optics"`})
		b.Provides, b.Excludes = []string{"press"}, []string{"rival"}
		b.Policy.Entries[gidp.Provides], b.Policy.Entries[gidp.Excludes] = inside, inside
		t := &trial{World: NewWorld(Core(), holder("a"), b)}
		t.A.Config.Features, t.B.Config.Features = features, features
		t.then(func() error { return t.Open("trade", wire.DepthSession) })
		return t
	}
	t := make()
	t.answers(t.B, gidp.Provides, wire.OpIntersects, `["press"]`, wire.Unknown)
	t.answers(t.B, gidp.Excludes, wire.OpIntersects, `["rival"]`, wire.Compatible)
	s := make(wire.FeatureDependencies)
	s.answers(s.B, gidp.Provides, wire.OpIntersects, `["press"]`, wire.Compatible)
	s.answers(s.B, gidp.Requires, wire.OpIntersects, `["press"]`, wire.Unknown)
	return errors.Join(t.err, s.err)
}
