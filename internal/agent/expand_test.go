package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
)

func TestANamedContingencyFindsWhoProvidesIt(t *testing.T) {
	for name, own := range map[string]bool{"own": true, "of the other side": false} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t)
			mine, theirs := []string{"institutional_lead"}, []string(nil)
			if !own {
				mine, theirs = theirs, mine
			}
			a := r.join("a", investor(t, mine, nil, nil))
			r.join("b", investor(t, theirs, []string{"canary_of_b"}, nil))
			lead := r.lead(a)
			if v := a.one(); v.Lead.Note == "" || !slices.Equal(v.Lead.ContingentOn, []string{"institutional_lead"}) {
				t.Fatalf("%+v", v.Lead)
			}
			c := r.join("c", investor(t, nil, []string{"institutional_lead"}, nil))
			d := r.join("d", investor(t, nil, []string{"something_else"}, nil))
			e := r.join("e", investor(t, nil, nil, nil))
			v := r.expand(a, lead, "")
			if v.State != "answered_compatible" || !v.Experimental || v.Lead != lead || v.Depth != 1 || v.Members != 3 || v.Sessions != 4 || len(v.Edges) != 4 {
				t.Fatalf("%+v", v)
			}
			wantState(t, v, "institutional_lead", "answered_compatible")
			if s := c.one(); s.State != string(session.Qualified) || s.Role != "responder" {
				t.Errorf("the session with c: %+v", s)
			}
			// Who does not provide it is asked about nothing else.
			if s := d.one(); s.State != string(session.Closed) || len(s.Questions) != 1 || s.Questions[0].Key != gidp.Provides || s.Questions[0].Result != "incompatible" {
				t.Errorf("the session with d: %+v", s)
			}
			if s := e.one(); s.State != string(session.Closed) || len(s.Questions) != 1 || s.Questions[0].Result != "unknown" {
				t.Errorf("the session with e: %+v", s)
			}
			for _, q := range r.provider.queries {
				if strings.Contains(fmt.Sprintf("%+v", q), "institutional_lead") {
					t.Errorf("the provider is told the name: %+v", q)
				}
			}
			if len(r.parties["b"].sessions()) != 1 {
				t.Error("the other side of the lead is asked itself")
			}
			r.carriesTheNameAlone(a, lead, "c", "d", "e")
			if check, err := a.agent.VerifyAudit(t.Context()); err != nil || !check.OK {
				t.Errorf("%+v %v", check, err)
			}
			for _, e := range must(a.agent.Audit(t.Context(), ""))(t) {
				if e.Kind == "expansion_approved" && strings.Contains(string(e.Body), "institutional_lead") {
					t.Errorf("the trail holds a name: %s", e.Body)
				}
			}
			if text := fmt.Sprintf("%+v", v); strings.Contains(text, "satisf") && !strings.Contains(text, "no dependency is satisfied") || strings.Contains(text, "match") {
				t.Error(text)
			}
		})
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// carriesTheNameAlone holds that nothing of the session with b, its values, identifiers and keys, occurs in the bytes of the sessions with others.
func (r *ring) carriesTheNameAlone(a *party, lead string, others ...string) {
	r.t.Helper()
	tokens := []string{"canary_of_b", "canary-investor", lead, "coalition", "expan"}
	err := a.agent.Store.View(r.t.Context(), func(reader durable.Reader) error {
		row, err := reader.Session(r.t.Context(), lead)
		if err != nil {
			return err
		}
		t, err := a.agent.look(r.t.Context(), reader, row)
		if err != nil {
			return err
		}
		key, err := t.ownKey()
		if err != nil {
			return err
		}
		tokens = append(tokens, t.body.State.ID, t.body.State.Self, t.body.State.Peer, t.body.Task, t.body.Endpoint, t.body.Projection, key.Kid(), t.body.Place.Coalition)
		for _, p := range t.body.State.Props {
			tokens = append(tokens, p.Digest)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	between := r.crossed("a", "b")
	for _, other := range others {
		crossed := r.crossed("a", other)
		if !strings.Contains(crossed, "institutional_lead") {
			r.t.Errorf("%s was not asked", other)
		}
		for _, token := range tokens {
			if token != "" && strings.Contains(crossed, token) {
				r.t.Errorf("%s learns %q of the session with b", other, token)
			}
		}
	}
	if !strings.Contains(between, tokens[5]) { // the tokens are those of the session
		r.t.Error("the session with b has another id")
	}
}

func TestWhatIsUndisclosedStaysSo(t *testing.T) {
	r := newRing(t)
	secret := investor(t, []string{"institutional_lead"}, nil, nil)
	secret.Policy.Entries[gidp.ConditionalOn] = worldClass(t, "evaluation_only")
	a := r.join("a", secret)
	r.join("b", investor(t, nil, nil, nil))
	lead := r.lead(a)
	if v := a.one(); !slices.Equal(v.Lead.ContingentOn, []string{wire.Undisclosed}) {
		t.Fatalf("%+v", v.Lead)
	}
	_, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	wantKind(t, err, app.KindRefused, "nothing_named")
	for _, name := range []string{"institutional_lead", wire.Undisclosed} {
		_, _, err = a.agent.Expand(t.Context(), lead, ExpandRequest{Dependency: name, Provider: officeProvider})
		wantKind(t, err, app.KindRefused, "nothing_named")
	}
	if list := must(a.agent.Expansions(t.Context()))(t); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// A name that a peer tells goes further only where the own policy lets a peer have the names of the own list.
func TestALearnedNameNeedsAnOpenList(t *testing.T) {
	r := newRing(t)
	quiet := investor(t, nil, nil, nil)
	delete(quiet.Policy.Entries, gidp.ConditionalOn)
	a := r.join("a", quiet)
	r.join("b", investor(t, []string{"institutional_lead"}, nil, nil))
	lead := r.lead(a)
	_, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	wantKind(t, err, app.KindRefused, "not_tellable")
	for class, want := range map[string]bool{"public": true, "discovery": true, "session": true, "session/consent": false, "session/principal_approval": false, "network": false, "never": false} {
		err := a.agent.Store.View(t.Context(), func(reader durable.Reader) error {
			row, err := reader.Interest(t.Context(), a.interest)
			if err != nil {
				return err
			}
			doc := investor(t, nil, nil, nil)
			doc.ID, doc.Lineage, doc.Version = a.interest, "l", 1
			doc.Policy.Entries[gidp.ConditionalOn] = worldClass(t, class)
			if row.Body, err = a.agent.Vault.Hold(doc); err != nil {
				return err
			}
			h, err := a.agent.Vault.Held(row.ID, row.Body, a.agent.Profiles)
			if err != nil {
				return err
			}
			turn := &turn{a: a.agent, holding: h, interest: row, now: r.clock.read()}
			if got := turn.tells(gidp.ConditionalOn, wire.DepthSession); got != want {
				t.Errorf("%s: %v", class, got)
			}
			if turn.tells(gidp.ConditionalOn, wire.DepthNetwork) != (want && class != "session") {
				t.Errorf("%s at network depth", class)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// At a depth at which the name may not be told the session ends without a question.
func TestNothingIsAskedAtNetworkDepth(t *testing.T) {
	for _, own := range []bool{true, false} {
		r := newRing(t)
		mine, theirs := []string{"institutional_lead"}, []string(nil)
		if !own {
			mine, theirs = theirs, mine
		}
		a := r.join("a", investor(t, mine, nil, nil))
		r.join("b", investor(t, theirs, nil, nil))
		lead := r.lead(a)
		c := r.join("c", investor(t, nil, []string{"institutional_lead"}, nil), func(o *Options) {
			config := session.Defaults("sayso/co-investment/1")
			config.MaxDepth = wire.DepthNetwork
			o.Session = &config
		})
		v := r.expand(a, lead, "")
		wantState(t, v, "institutional_lead", "open")
		if s := c.one(); s.State != string(session.Closed) || len(s.Questions) != 0 || strings.Contains(r.crossed("a", "c"), "institutional_lead") {
			t.Errorf("own %v: %+v", own, s)
		}
	}
}

func TestAnUnmetRequirementIsSearchedFor(t *testing.T) {
	r := newRing(t)
	a := r.join("a", investor(t, nil, nil, []string{"financing"}))
	r.join("b", investor(t, nil, nil, nil))
	lead := r.lead(a)
	c := r.join("c", investor(t, nil, []string{"financing"}, nil))
	if _, err := a.agent.Explore(t.Context(), a.interest, officeProvider); err != nil { // a session about other things is no reason not to ask
		t.Fatal(err)
	}
	r.pump()
	v := r.expand(a, lead, "financing")
	if len(c.sessions()) != 2 {
		t.Errorf("%d sessions with c", len(c.sessions()))
	}
	wantState(t, v, "financing", "answered_compatible")
	if v.Dependencies[0].List != gidp.Requires {
		t.Errorf("%+v", v.Dependencies)
	}
}

// A with B, B if C, C if A: the circle is recorded and handed to people.
func TestACircleIsLeftToPeople(t *testing.T) {
	for name, last := range map[string]string{"what this side provides": "site", "what was searched for": "permit"} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t)
			a := r.join("a", investor(t, nil, []string{"site"}, nil))
			r.join("b", investor(t, []string{"permit"}, nil, nil))
			lead := r.lead(a)
			r.join("c", investor(t, []string{last}, []string{"permit"}, nil))
			v := r.expand(a, lead, "permit")
			wantState(t, v, "permit", "answered_compatible")
			derived := v.Edges[1].Session
			wantCircular := func(v ExpansionView) {
				t.Helper()
				for _, d := range v.Dependencies {
					if d.Lead == derived && d.Name == last && d.State == "circular_unresolved" && d.Depth == 2 {
						return
					}
				}
				t.Errorf("%+v", v)
			}
			wantCircular(v)
			if v.State != "circular_unresolved" {
				t.Errorf("the whole is %s", v.State)
			}
			calls := len(r.provider.made())
			_, _, err := a.agent.Expand(t.Context(), derived, ExpandRequest{Provider: officeProvider})
			wantKind(t, err, app.KindRefused, "circular_unresolved")
			r.pump()
			if len(r.provider.made()) != calls {
				t.Error("a circle is searched")
			}
			a.restart() // nothing of it was in memory
			wantCircular(must(a.agent.Expansion(t.Context(), v.ID))(t))
		})
	}
}

func TestAnExpansionGoesThreeStepsFar(t *testing.T) {
	r := newRing(t)
	names := []string{"one", "two", "three", "four"}
	a := r.join("a", investor(t, nil, nil, nil))
	r.join("b", investor(t, names[:1], nil, nil))
	lead := r.lead(a)
	var v ExpansionView
	for depth := range 3 {
		r.join(fmt.Sprint("c", depth), investor(t, names[depth+1:depth+2], names[depth:depth+1], nil))
		r.only(depth + 3)
		v = r.expand(a, lead, "")
		if v.Depth != depth+1 || v.Members != depth+3 {
			t.Fatalf("depth %d: %+v", depth, v)
		}
		wantState(t, v, names[depth], "answered_compatible")
		lead = v.Edges[depth+1].Session
	}
	wantState(t, v, "four", "too_deep")
	_, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	wantKind(t, err, app.KindLimit, "too_deep")
}

func TestMembersAndSessionsAreBounded(t *testing.T) {
	r := newRing(t)
	a := r.join("a", investor(t, []string{"institutional_lead"}, nil, nil))
	r.join("b", investor(t, nil, nil, nil))
	lead := r.lead(a)
	for i := range 8 {
		r.join(fmt.Sprint("c", i), investor(t, nil, []string{"institutional_lead"}, nil))
	}
	v := r.expand(a, lead, "")
	if v.Members != maxMembers || v.Sessions != maxMembers-1 {
		t.Fatalf("%d members, %d sessions", v.Members, v.Sessions)
	}
	_, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	wantKind(t, err, app.KindLimit, "no_room")

	// Those who do not provide it make room, until so many were asked.
	r = newRing(t)
	a = r.join("a", investor(t, []string{"institutional_lead"}, nil, nil))
	r.join("b", investor(t, nil, nil, nil))
	lead = r.lead(a)
	for i := range 40 {
		r.join(fmt.Sprint("c", i), investor(t, nil, []string{"other"}, nil))
	}
	for range 12 {
		if v, _, err = a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider}); err != nil {
			break
		}
		r.pump()
	}
	wantKind(t, err, app.KindLimit, "no_room")
	if v = must(a.agent.Expansions(t.Context()))(t)[0]; v.Sessions != maxCoalitionSessions || v.Members != 2 {
		t.Errorf("%d sessions, %d members", v.Sessions, v.Members)
	}
}

// Switched off, the feature is neither offered nor accepted, nothing is expanded or listed, and what was begun goes no further.
func TestExpansionIsOffByDefault(t *testing.T) {
	r := newRing(t)
	off := func(o *Options) { o.MultiParty = false }
	a := r.join("a", investor(t, []string{"institutional_lead"}, nil, nil))
	b := r.join("b", investor(t, nil, nil, nil), off)
	lead := r.lead(a)
	offer := `"features":["dependency_primitives","multi_party"]`
	if crossed := r.crossed("a", "b"); strings.Count(crossed, "multi_party") != strings.Count(crossed, offer) || !strings.Contains(crossed, offer) {
		t.Error("it is offered otherwise, or accepted by who has it off")
	}
	r.only(1)
	if _, err := b.agent.Explore(t.Context(), b.interest, officeProvider); err != nil {
		t.Fatal(err)
	}
	r.pump()
	if crossed := r.crossed("b", "a"); crossed == "" || strings.Contains(crossed, "multi_party") {
		t.Error("who has it off offers it")
	}
	_, _, err := b.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	wantKind(t, err, app.KindRefused, experimentalOff)
	_, err = b.agent.Expansions(t.Context())
	wantKind(t, err, app.KindRefused, experimentalOff)
	_, err = b.agent.Expansion(t.Context(), "c")
	wantKind(t, err, app.KindRefused, experimentalOff)

	r.join("c", investor(t, nil, []string{"institutional_lead"}, nil))
	_, x, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
	if err != nil {
		t.Fatal(err)
	}
	a.options.MultiParty = false
	a.restart()
	calls := len(r.provider.made())
	r.pump()
	if v := must(a.agent.Exploration(t.Context(), x.ID))(t); v.State != failed || v.Problem != experimentalOff || len(r.provider.made()) != calls {
		t.Errorf("%+v", v)
	}
	// A configuration that names the feature by itself does not switch it on.
	config := session.Defaults("core")
	config.Features = append(config.Features, wire.FeatureMultiParty)
	if slices.Contains(offered(config, false).Features, wire.FeatureMultiParty) || !slices.Contains(config.Features, wire.FeatureMultiParty) {
		t.Error("the configuration decides")
	}
}

func TestWhatCanBeExpanded(t *testing.T) {
	r := newRing(t)
	a := r.join("a", investor(t, []string{"first", "second"}, nil, nil))
	r.join("b", investor(t, []string{"A text"}, nil, nil)) // what is no label is not recorded
	lead := r.lead(a)
	for name, c := range map[string]struct {
		lead, name, provider string
		kind                 app.Kind
		code                 string
	}{
		"no such lead":   {"none", "", officeProvider, app.KindNotFound, "unknown_lead"},
		"several names":  {lead, "", officeProvider, app.KindInvalid, "name_needed"},
		"another name":   {lead, "third", officeProvider, app.KindInvalid, "unknown_dependency"},
		"no provider":    {lead, "first", "x", app.KindInvalid, ""},
		"text of a peer": {lead, "A text", officeProvider, app.KindInvalid, "unknown_dependency"},
	} {
		_, _, err := a.agent.Expand(t.Context(), c.lead, ExpandRequest{Dependency: c.name, Provider: c.provider})
		if e := app.AsError(err); err == nil || e.Kind != c.kind || c.code != "" && e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Dependency: "first", Provider: officeProvider}); err != nil {
		t.Fatal(err)
	}
	_, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Dependency: "first", Provider: officeProvider})
	wantKind(t, err, app.KindConflict, "search_goes_on")
	_, err = a.agent.Expansion(t.Context(), "none")
	wantKind(t, err, app.KindNotFound, "unknown_expansion")
	if _, err := a.agent.CloseSession(t.Context(), lead); err != nil {
		t.Fatal(err)
	}
	_, _, err = a.agent.Expand(t.Context(), lead, ExpandRequest{Dependency: "second", Provider: officeProvider})
	wantKind(t, err, app.KindRefused, "session_over")
	r.join("c", investor(t, nil, []string{"first"}, nil))
	r.pump()
	if v := must(a.agent.Expansions(t.Context()))(t)[0]; v.Sessions != 1 {
		t.Errorf("a search goes on after its lead: %+v", v)
	}
}

// With PROBE left to the Principal each session and the question itself wait in the inbox; the question shows the name that would be told.
func TestAnExpansionWaitsForItsPrincipal(t *testing.T) {
	r := newRing(t)
	careful := investor(t, []string{"institutional_lead"}, nil, nil)
	careful.Authority[gidp.Probe] = gidp.Approval
	a := r.join("a", careful)
	b := r.join("b", investor(t, nil, nil, nil))
	if _, err := a.agent.Explore(t.Context(), a.interest, officeProvider); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.pump()
		a.decide(Decision{Grant: true})
	}
	r.pump()
	lead := a.one().ID
	r.join("c", investor(t, nil, []string{"institutional_lead"}, nil))
	v := r.expand(a, lead, "")
	wantState(t, v, "institutional_lead", "searching")
	if e := a.decide(Decision{Grant: true}); e.Kind != entryOpen {
		t.Fatalf("%+v", e)
	}
	r.pump()
	if strings.Contains(r.crossed("a", "c"), "institutional_lead") {
		t.Fatal("asked without a decision")
	}
	if e := a.decide(Decision{Grant: true}); e.Kind != entryOwn || len(e.Questions) != 1 || string(e.Questions[0].Value) != `["institutional_lead"]` {
		t.Fatalf("%+v", e)
	}
	r.pump()
	wantState(t, must(a.agent.Expansion(t.Context(), v.ID))(t), "institutional_lead", "answered_compatible")
	if e := a.decide(Decision{Grant: true}); e.Kind != entryOwn || len(e.Questions) < 2 {
		t.Fatalf("%+v", e)
	}
	r.pump()
	if s := r.parties["c"].one(); s.State != string(session.Qualified) || len(b.sessions()) != 1 {
		t.Errorf("%+v", s)
	}
}

// Whichever write fails, nobody is asked twice, and the record comes to the same end.
func TestAnExpansionSurvivesFailingWrites(t *testing.T) {
	for fail := 1; fail <= 12; fail++ {
		r := newRing(t)
		a := r.join("a", investor(t, []string{"institutional_lead"}, nil, nil))
		r.join("b", investor(t, nil, nil, nil))
		lead := r.lead(a)
		c := r.join("c", investor(t, nil, []string{"institutional_lead"}, nil))
		v, _, err := a.agent.Expand(t.Context(), lead, ExpandRequest{Provider: officeProvider})
		if err != nil {
			t.Fatal(err)
		}
		r.breaks = true
		broken := &breaking{Store: a.options.Store, at: fail}
		a.options.Store = broken
		a.restart()
		r.pump()
		r.clock.advance(time.Minute)
		r.pump()
		if v = must(a.agent.Expansion(t.Context(), v.ID))(t); v.State != "answered_compatible" || v.Sessions != 2 || len(c.sessions()) != 1 || c.one().State != string(session.Qualified) {
			t.Errorf("write %d: %+v, %d sessions", fail, v, len(c.sessions()))
		}
	}
}

func TestNamesThatCanBeAsked(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "tier_1": true, "": false, "A": false, "1a": false, "_a": false, "a b": false, "é": false, "a-b": false, wire.Undisclosed: false,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "https": true, "a\n": false, `a"`: false} {
		if isName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// The record of a coalition stays within its bounds, and is the same however often it is written.
func TestTheRecordIsBounded(t *testing.T) {
	c := coalition{Lead: "s", Edges: []edge{{Session: "s"}}}
	for i := range 2 * maxDependencies {
		c.depend("s", fmt.Sprint("n", i), gidp.ConditionalOn, nil)
		c.depend("s", "n0", gidp.ConditionalOn, nil)
	}
	c.depend("nobody", "x", gidp.ConditionalOn, nil)
	if len(c.Dependencies) != maxDependencies {
		t.Errorf("%d dependencies", len(c.Dependencies))
	}
	for i := range 9 {
		c.note(edge{Session: fmt.Sprint(i), From: "s", Dependency: "n0", Depth: 1, Over: true, Answer: []wire.Result{wire.Declined, wire.Unknown, wire.Incompatible}[i%3]})
	}
	if c.members() != 2 || !c.room() || c.state(&c.Dependencies[0], false) != dependencyOpen || c.over() {
		t.Errorf("%d members, %s", c.members(), c.state(&c.Dependencies[0], false))
	}
	for i := range 6 {
		c.note(edge{Session: fmt.Sprint(i), From: "s", Dependency: "n0", Depth: 1, Over: true, Answer: []wire.Result{wire.Compatible, wire.Conditionally}[i%2]})
	}
	if c.members() != maxMembers || c.room() || c.state(&c.Dependencies[0], true) != dependencyAnswered {
		t.Errorf("%d members", c.members())
	}
	// A record whose edges lead in a ring, which no process writes, still ends.
	c.Edges = []edge{{Session: "a", From: "b", Dependency: "x"}, {Session: "b", From: "a", Dependency: "y"}}
	if got := c.chain("a"); len(got) != maxExpansionDepth {
		t.Errorf("%v", got)
	}
}
