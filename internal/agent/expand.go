package agent

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
)

// Dependency-driven expansion (§19.2; sec. 14): experimental, and off unless [Options].MultiParty is set. A lead that hangs on a name, or an own requirement that the lead does
// not meet, becomes a search for a third interest that provides it. A Principal approves each one. The search asks a provider what any search of the interest asks; each
// candidate gets an ordinary session under the interest's own policy, authority and ledger, which first asks whether it provides the name and, unless it says so, nothing more.
// The name is all that is carried from one session to another, and only where the policy lets a peer have the names of that list. What one side sees of several
// sessions is a record on this side alone.

// offered is a configuration of sessions with multi_party among the features that are offered and accepted, or without.
func offered(config session.Config, on bool) *session.Config {
	config.Features = slices.DeleteFunc(slices.Clone(config.Features), func(f wire.Feature) bool { return f == wire.FeatureMultiParty })
	if on {
		config.Features = append(config.Features, wire.FeatureMultiParty)
	}
	return &config
}

// experimentalOff is why a search was not made, or goes no further.
const experimentalOff = "experimental_off"

func (a *Agent) experimental() error {
	if a.MultiParty {
		return nil
	}
	return refuse(app.KindRefused, experimentalOff, "expansion along dependencies is experimental, and it is switched off", "switch it on: --experimental-multi-party, or experimental_multi_party in the settings")
}

// place is where a session stands in a coalition.
type place struct {
	Coalition  string `json:"coalition"`
	From       string `json:"from,omitzero"`
	Dependency string `json:"dependency,omitzero"` // "" of the first lead
	List       string `json:"list,omitzero"`
	Depth      int    `json:"depth,omitzero"`
}

func coalitionPlace(id string) string { return "coalition/" + id }

func (a *Agent) coalition(row durable.CoalitionRow) (c coalition, err error) {
	err = a.unseal(coalitionPlace(row.ID), row.Body, &c)
	return c, err
}

func (a *Agent) putCoalition(ctx context.Context, w durable.Writer, row durable.CoalitionRow, c coalition) (err error) {
	switch {
	case !c.over():
		row.ForgetAt = time.Time{}
	case row.ForgetAt.IsZero():
		row.ForgetAt = a.Now().UTC().Add(keepClosed)
	}
	if row.Body, err = a.seal(coalitionPlace(row.ID), c); err != nil {
		return err
	}
	return inside("keep coalition", w.PutCoalition(ctx, row))
}

// ExpandRequest says which name is searched for, and where. A Dependency of "" is the only one that the lead hangs on.
type ExpandRequest struct{ Dependency, Provider string }

// expansionAudit is what the trail holds of an approval. The name is a keyed hash.
type expansionAudit struct {
	Coalition   string `json:"coalition"`
	Session     string `json:"session"`
	Exploration string `json:"exploration"`
	Dependency  string `json:"dependency"`
	Depth       int    `json:"depth"`
}

// Expand is the Principal's approval of one expansion: a search for somebody who provides what a lead hangs on. It returns the record and the search, which whoever runs makes.
func (a *Agent) Expand(ctx context.Context, lead string, r ExpandRequest) (ExpansionView, ExplorationView, error) {
	var out ExpansionView
	var found ExplorationView
	if err := a.experimental(); err != nil {
		return out, found, err
	}
	fresh, err := a.newSearch(r.Provider)
	if err != nil {
		return out, found, outward(err)
	}
	id, err := a.newID("c-")
	if err != nil {
		return out, found, outward(err)
	}
	err = a.Store.Update(ctx, func(w durable.Writer) error {
		t, err := a.turn(ctx, w, lead)
		if err == nil && (t.body.Lead == nil || !t.body.State.Emitted) {
			err = durable.ErrNotFound
		}
		if err != nil {
			return absent(err, refuse(app.KindNotFound, "unknown_lead", "no lead has this id", "list the leads: sayso interest opportunities"))
		}
		if !t.active() || t.row.Closed {
			return sessionOver()
		}
		row, c, err := t.record(ctx, id)
		if err != nil {
			return err
		}
		d, err := t.expandable(&c, r.Dependency)
		if err != nil {
			return err
		}
		if x, err := w.Exploration(ctx, d.Exploration); err == nil && x.State == searching {
			return refuse(app.KindConflict, "search_goes_on", "a provider is being asked for it already", "look at the record: sayso interest expansions")
		} else if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		fresh.expands = &place{Coalition: row.ID, From: lead, Dependency: d.Name, List: d.List, Depth: d.Depth}
		if found, err = a.search(ctx, w, t.row.Interest, fresh); err != nil {
			return err
		}
		d.Exploration = fresh.id
		if err := a.putCoalition(ctx, w, row, c); err != nil {
			return err
		}
		out = c.view([]string{fresh.id})
		out.ID, out.Principal, out.Interest, out.Started = row.ID, t.holding.Principal(), row.Interest, row.At
		return a.audit(ctx, w, t.holding.Lineage(), "expansion_approved", expansionAudit{Coalition: row.ID, Session: lead, Exploration: fresh.id, Dependency: a.salted(row.ID, d.Name), Depth: d.Depth})
	})
	a.kick()
	return out, found, outward(err)
}

// record is the coalition that a lead belongs to; a lead that belongs to none begins one under an id.
func (t *turn) record(ctx context.Context, id string) (durable.CoalitionRow, coalition, error) {
	if p := t.body.Place; p != nil {
		row, err := t.w.Coalition(ctx, p.Coalition)
		if err != nil {
			return row, coalition{}, inside("read coalition", err)
		}
		c, err := t.a.coalition(row)
		return row, c, err
	}
	t.body.Place, t.dirty = &place{Coalition: id}, true
	row, c := durable.CoalitionRow{ID: id, Interest: t.row.Interest, At: t.now.UTC()}, coalition{Lead: t.row.ID}
	if err := t.noteIn(ctx, &c); err != nil {
		return row, c, err
	}
	if len(c.Dependencies) == 0 {
		return row, c, nothingNamed()
	}
	if err := t.a.putCoalition(ctx, t.w, row, c); err != nil {
		return row, c, err
	}
	return row, c, t.save(ctx)
}

func nothingNamed() error {
	return refuse(app.KindRefused, "nothing_named", "the lead hangs on nothing that has a name that can be asked about", "what is undisclosed stays so; ask the other side of the lead")
}

// expandable is the dependency of a lead that may be searched for now.
func (t *turn) expandable(c *coalition, name string) (*dependency, error) {
	var names []string
	for _, d := range c.Dependencies {
		if d.From == t.row.ID {
			names = append(names, d.Name)
		}
	}
	switch {
	case len(names) == 0:
		return nil, nothingNamed()
	case name == "" && len(names) > 1:
		return nil, refuse(app.KindInvalid, "name_needed", "the lead hangs on several names", "name one: sayso interest expansions lists them")
	case name == "":
		name = names[0]
	case !slices.Contains(names, name):
		return nil, refuse(app.KindInvalid, "unknown_dependency", "the lead does not hang on this name", "sayso interest opportunities lists what it depends on")
	}
	d := c.dependency(t.row.ID, name)
	switch {
	case d.Circular:
		return nil, refuse(app.KindRefused, dependencyCircular, "it comes back to a name that this lead was searched for, or to what you provide yourself: a circle, which no search resolves", "it is for people to resolve: talk to the other sides")
	case d.Depth > maxExpansionDepth:
		return nil, refuse(app.KindLimit, dependencyTooDeep, "an expansion goes three steps from its lead", "talk to the other sides")
	case !c.room():
		return nil, refuse(app.KindLimit, "no_room", "an expansion has at most 8 members and 32 sessions", "close sessions that lead nowhere: sayso interest close")
	case !t.tells(d.List, t.a.Session.MaxDepth):
		return nil, refuse(app.KindRefused, "not_tellable", "your policy keeps the names of "+d.List+" from the sessions you open, so nobody can be asked for one",
			"supersede the interest by a version whose policy classes "+d.List+" session, and whose DISCLOSE is true")
	}
	return d, nil
}

// tells reports whether the policy lets any peer of a session of this depth have the names of a list on request. A name that a peer has told is treated like one of the
// own list of that kind.
func (t *turn) tells(list string, depth wire.Depth) bool {
	doc := t.holding.Document()
	if doc == nil {
		return false
	}
	class := doc.Policy.Entries[list].For(t.towards().Peer)
	switch {
	case class.Never, class.Gate != gidp.Ungated:
		return false
	case class.Surface == gidp.Public, class.Surface == gidp.Discovery:
		return true
	}
	return class.Surface == gidp.InSession && depth == wire.DepthSession && t.holding.Authority().At(gidp.Disclose) == gidp.Yes
}

// noteIn writes what has become of this session into a record, and the names that it hangs on once it is a lead.
func (t *turn) noteIn(ctx context.Context, c *coalition) error {
	p, st := t.body.Place, &t.body.State
	c.note(edge{Session: t.row.ID, From: p.From, Dependency: p.Dependency, Depth: p.Depth, State: st.WireState(), Answer: t.provided(), Over: t.row.Closed})
	if t.body.Lead == nil || !st.Emitted {
		return nil
	}
	doc := t.holding.Document()
	if doc == nil {
		return vault.ErrSeal
	}
	named := st.Stated // of the other side: the own ones are those of the first lead
	if p.From == "" {
		named = t.body.Lead.Contingent
		required, err := t.unmet(ctx, doc.Requires)
		if err != nil {
			return err
		}
		for _, name := range required {
			c.depend(t.row.ID, name, gidp.Requires, doc.Provides)
		}
	}
	for _, name := range named {
		if isName(name) {
			c.depend(t.row.ID, name, gidp.ConditionalOn, doc.Provides)
		}
	}
	return nil
}

// unmet are the own requirements that the other side has not said it provides, one by one.
func (t *turn) unmet(ctx context.Context, required []string) ([]string, error) {
	required = slices.DeleteFunc(slices.Clone(required), func(name string) bool { return !isName(name) })
	if len(required) == 0 {
		return nil, nil
	}
	asked, err := t.ownClaims(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range t.body.State.Props {
		c, ok := asked[p.ID]
		if !ok || p.Side != session.Ours || p.Key != gidp.Provides || p.Withdrawn || p.Result != wire.Compatible {
			continue
		}
		required = slices.DeleteFunc(required, func(name string) bool { return bytes.Equal(c.Value, provides(name).Value) })
	}
	return required, nil
}

// provides asks whether a peer provides what has a name.
func provides(name string) wire.Claim {
	value := jcs.AppendString([]byte{'['}, name)
	return wire.Claim{Key: gidp.Provides, Operator: wire.OpIntersects, Value: append(value, ']')}
}

// provided is the answer to the question that a derived session begins with; "" before there is one.
func (t *turn) provided() wire.Result {
	if t.body.Place == nil || t.body.Place.Dependency == "" || !t.body.Plan.Named {
		return ""
	}
	for _, p := range t.body.State.Props {
		if p.Side == session.Ours && p.Key == gidp.Provides {
			return p.Result
		}
	}
	return ""
}

// noted brings the record of a coalition up to date with a session of it, in the session's transaction.
func (t *turn) noted(ctx context.Context) error {
	if t.body.Place == nil {
		return nil
	}
	row, err := t.w.Coalition(ctx, t.body.Place.Coalition)
	if errors.Is(err, durable.ErrNotFound) {
		return nil // it is being begun, or is forgotten
	}
	if err != nil {
		return inside("read coalition", err)
	}
	c, err := t.a.coalition(row)
	if err != nil {
		return err
	}
	before, err := jcs.Encode(c)
	if err != nil {
		return inside("write coalition", err)
	}
	if err := t.noteIn(ctx, &c); err != nil {
		return err
	}
	after, err := jcs.Encode(c)
	if err != nil || bytes.Equal(before, after) {
		return inside("write coalition", err)
	}
	return t.a.putCoalition(ctx, t.w, row, c)
}

// joined collects the projections of those who are not asked for a name: whoever was asked for it, and members. Somebody else with whom another session is open gets one more:
// the two cannot be linked.
func (a *Agent) joined(ctx context.Context, r durable.Reader, p place, busy map[string]bool) error {
	row, err := r.Coalition(ctx, p.Coalition)
	if err != nil {
		return inside("read coalition", absent(err, nil))
	}
	c, err := a.coalition(row)
	if err != nil {
		return err
	}
	for i, e := range c.Edges {
		if i > 0 && e.Over && e.Dependency != p.Dependency && !qualifies(e.Answer) {
			continue
		}
		var body sessionBody
		s, err := r.Session(ctx, e.Session)
		if err == nil {
			body, err = a.sessionBody(ctx, r, s)
		}
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return inside("read session", err)
		}
		busy[body.Projection] = true
	}
	return nil
}

// openEdge opens a session to somebody who may provide what a lead hangs on. With "" there is none: then problem says why the search is over.
func (a *Agent) openEdge(ctx context.Context, w durable.Writer, h *vault.Holding, p place, endpoint, projectionRef string) (id, problem string, err error) {
	row, err := w.Coalition(ctx, p.Coalition)
	if errors.Is(err, durable.ErrNotFound) {
		return "", "lead_closed", nil
	}
	if err != nil {
		return "", "", inside("read coalition", err)
	}
	c, err := a.coalition(row)
	if err != nil {
		return "", "", err
	}
	switch lead := c.edge(p.From); {
	case lead == nil || lead.Over:
		return "", "lead_closed", nil
	case !c.room():
		return "", "no_room", nil
	}
	if id, err = a.openSession(ctx, w, h, endpoint, projectionRef); err != nil {
		return "", "", err
	}
	t, err := a.turn(ctx, w, id)
	if err != nil {
		return "", "", err
	}
	t.body.Place, t.dirty = &p, true
	return id, "", t.save(ctx)
}

// pursue is the plan of a derived session before the ordinary one: it asks whether the peer provides the name, and goes on when it does. Otherwise it ends the session, so
// that nothing else is asked. It reports whether the ordinary plan has to wait.
func (t *turn) pursue(ctx context.Context) (wait bool, err error) {
	p := t.body.Place
	if p == nil || p.Dependency == "" {
		return false, nil
	}
	if !t.a.MultiParty {
		return true, nil
	}
	if !t.body.Plan.Named {
		claims := []wire.Claim{provides(p.Dependency)}
		if t.tells(p.List, t.body.State.Depth) && t.holding.Vet(t.towards(), claims) == nil {
			t.body.Plan.Named = true
			view := t.holding.View(t.towards())
			if !slices.ContainsFunc(view.Minimum(), func(key string) bool { return key != gidp.Provides }) { // it could qualify on this answer alone
				t.body.Plan.Asked = true
				claims = append(claims, t.holding.Asks(t.towards())...)
			}
			return true, t.ask(ctx, claims[:min(len(claims), wire.MaxClaims)])
		}
	} else if answer := t.provided(); answer == "" || qualifies(answer) {
		return answer == "", nil
	}
	return true, t.lenient(t.step(ctx, session.Hang{Reason: wire.ReasonUnspecified}))
}

// Expansions lists the records of expansions, oldest first.
func (a *Agent) Expansions(ctx context.Context, principals ...string) ([]ExpansionView, error) {
	out := []ExpansionView{}
	if err := a.experimental(); err != nil {
		return out, err
	}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = out[:0]
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		rows, err := r.Coalitions(ctx, "")
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !chosen.has(row.Interest) {
				continue
			}
			v, err := a.expansionView(ctx, r, row)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	})
	return out, outward(err)
}

// Expansion is one record.
func (a *Agent) Expansion(ctx context.Context, id string) (ExpansionView, error) {
	var v ExpansionView
	if err := a.experimental(); err != nil {
		return v, err
	}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Coalition(ctx, id)
		if err != nil {
			return absent(err, refuse(app.KindNotFound, "unknown_expansion", "no expansion has this id", "list them: sayso interest expansions"))
		}
		v, err = a.expansionView(ctx, r, row)
		return err
	})
	return v, outward(err)
}

func (a *Agent) expansionView(ctx context.Context, r durable.Reader, row durable.CoalitionRow) (ExpansionView, error) {
	c, err := a.coalition(row)
	if err != nil {
		return ExpansionView{}, err
	}
	var busy []string
	for _, d := range c.Dependencies {
		if d.Exploration == "" {
			continue
		}
		x, err := r.Exploration(ctx, d.Exploration)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return ExpansionView{}, err
		}
		if err == nil && x.State == searching {
			busy = append(busy, d.Exploration)
		}
	}
	h, _, err := a.holding(ctx, r, row.Interest)
	if err != nil {
		return ExpansionView{}, err
	}
	v := c.view(busy)
	v.ID, v.Principal, v.Interest, v.Started = row.ID, h.Principal(), row.Interest, row.At
	return v, nil
}
