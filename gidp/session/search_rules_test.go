package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// The world that the search gives to both sides, and the rules that hold in it, written apart from the step function.

// The attributes of a side: each is kept back by another rule but for the first.
const (
	openKey     = "open"
	gatedKey    = "gated"   // our consent first
	principal   = "person"  // the Principal decides
	localKey    = "local"   // never sent
	neverKey    = "never"   // as if it did not exist
	absentKey   = "absent"  // it does not exist
	networkKey  = "network" // for members of a trust domain
	mutualKey   = "mutual"  // once the peer has shown its own
	verifiedKey = "proven"  // once a credential was shown
	identityKey = gidp.PrincipalIdentity
)

var (
	searchProfile = &gidp.Profile{ID: "core"}
	inSession     = gidp.Class{Surface: gidp.InSession}
	searchHeld    = map[string]gidp.Attribute{
		openKey:     {Held: true, Class: inSession},
		gatedKey:    {Held: true, Class: gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsConsent}},
		principal:   {Held: true, Class: gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}},
		localKey:    {Held: true, Class: gidp.Class{Surface: gidp.Local}},
		neverKey:    {Held: true, Class: gidp.Never},
		networkKey:  {Held: true, Class: gidp.Class{Surface: gidp.Network}},
		mutualKey:   {Held: true, Class: inSession, Reciprocal: true},
		verifiedKey: {Held: true, Class: inSession, Verify: []string{"credential"}},
		identityKey: {Held: true, Class: inSession},
	}
)

func searchView(authority gidp.Authority) gidp.View {
	return gidp.View{Active: true, Authority: authority, Profile: searchProfile, Attributes: searchHeld}
}

// view is what a side knows of its interest.
func (m *model) view(i int, authority gidp.Authority) gidp.View {
	v := searchView(authority)
	v.Attributes = m.held[i]
	return v
}

// allowed is the authority where nothing is refused.
func allowed() gidp.Authority {
	return gidp.Authority{gidp.Observe: gidp.Yes, gidp.Search: gidp.Yes, gidp.PublishProjection: gidp.Yes, gidp.Probe: gidp.Yes, gidp.Disclose: gidp.Yes,
		gidp.Introduce: gidp.Yes}
}

func with(level gidp.Level, p gidp.Permission) gidp.Authority {
	a := allowed()
	a[level] = p
	return a
}

// rules are the invariants of the protocol that one step of one side can break, and the law of the transition table. A rule returns what is wrong. What only a
// node at rest can break stands in atRest: I16, I18, which is the second half of I5, and that both sides of I6 wait for the same. I13, I14 and I19 are about
// values and ledgers, which a session does not hold.
var rules = map[string]func(*edge) string{
	"table": func(e *edge) string {
		if e.refusal != nil || e.m.lapsing(e) {
			return ""
		}
		if entry, ok := table[e.row()]; !ok || entry.by == nobody || e.m.proper() && entry.by == breaking {
			return e.row() + " is not in the table"
		}
		return ""
	},
	"refusal": func(e *edge) string {
		if e.refusal != nil && (len(e.out)+len(e.effects) > 0 || !bytes.Equal(appendState(nil, e.from.side[e.side]), appendState(nil, e.to.side[e.side]))) {
			return "a refusal changed something"
		}
		return ""
	},
	"codec": func(e *edge) string {
		if e.encoding != nil {
			return "what was sent is no object: " + e.encoding.Error()
		}
		return ""
	},
	"I1": func(e *edge) string {
		if e.tells(localKey) {
			return "a local attribute is on the wire"
		}
		return ""
	},
	"I2": func(e *edge) string { // the same step, had the attribute never existed
		ev, ok := e.ev.(Receive)
		if !ok || !e.names(neverKey) {
			return ""
		}
		v := e.view
		v.Attributes = map[string]gidp.Attribute{}
		for key, a := range e.view.Attributes {
			if key != neverKey {
				v.Attributes[key] = a
			}
		}
		_, out, _, err := Step(Env{Now: e.m.now(e.to, e.side), Config: e.m.cfg, View: v}, *e.from.side[e.side], ev)
		if (err == nil) != (e.refusal == nil) || texts(out) != texts(e.out) {
			return "an attribute of the class never changes an answer"
		}
		return ""
	},
	"I3": func(e *edge) string {
		_, b := e.states()
		for _, o := range sent[*wire.CompatibilityResponse](e) {
			for i, result := range o.Results {
				p := b.proposition(Theirs, result.ClaimID)
				if p == nil || p.Result != result.Result {
					return "an answer differs from what stands"
				}
				if said, ok := e.said(); ok && result.Result != said[min(i, len(said)-1)].Result {
					return "an answer differs from what was evaluated"
				}
			}
		}
		return ""
	},
	"I4": func(e *edge) string {
		a, b := e.states()
		if o, ok := e.received().(*wire.CompatibilityResponse); ok && e.m.hostile == nil { // the other side said so, for ever
			for _, result := range o.Results {
				ours, theirs := b.proposition(Ours, result.ClaimID), e.to.side[1-e.side].proposition(Theirs, result.ClaimID)
				if ours != nil && ours.Result != "" && (theirs == nil || theirs.Result != ours.Result) {
					return "the sides differ over an answer"
				}
			}
		}
		for _, o := range sent[*wire.CompatibilityResponse](e) {
			if o.SessionStatus == wire.StatusPotential && !a.Phase.qualified() && !b.Phase.qualified() && !satisfied(b) {
				return "an entry condition is reported that does not hold"
			}
		}
		if a.Phase.qualified() || !b.Phase.qualified() {
			return ""
		}
		switch {
		case b.Vote != wire.StatusPotential:
			return "a side qualified without the report of the responder"
		case b.Role == Initiator && !satisfied(b):
			return "a side qualified though an entry condition does not hold"
		case b.Role == Responder && !agreeable(b):
			return "a side qualified though an answer does not allow it"
		}
		return ""
	},
	"I5": func(e *edge) string {
		a, b := e.states()
		o := sent[*wire.Opportunity](e)
		switch {
		case len(o) == 0 && (b.Phase.qualified() && b.Role == Initiator && !a.Phase.qualified()):
			return "the initiator qualified without an Opportunity"
		case len(o) > 0 && (a.Role != Initiator || a.Phase != Probing || b.Phase != Qualified || a.Emitted || !b.Emitted || len(o) > 1):
			return "an Opportunity is not the one of this session"
		}
		return ""
	},
	"I6": func(e *edge) string { return e.answers() },
	"I7": func(e *edge) string {
		a, b := e.states()
		if b.contradicted() && b.Phase != Closed {
			return "the session goes on over a contradiction"
		}
		for i, p := range a.Props {
			switch {
			case i >= len(b.Props) || b.Props[i].ID != p.ID || p.Result != "" && b.Props[i].Result != p.Result:
				return "an answer was changed"
			case p.Result == wire.Incompatible && b.Props[i].Withdrawn:
				return "a contradiction was superseded"
			}
		}
		return ""
	},
	"I8": func(e *edge) string {
		a, b := e.states()
		if !e.tells(identityKey) {
			return ""
		}
		for _, g := range slices.Concat(a.Grants, b.Grants) {
			if g.By == Ours && g.Action == wire.ActIdentity && slices.Contains(g.Scope, identityKey) && g.Phase.qualified() {
				return ""
			}
		}
		return "an identity is told without a grant that reveals it"
	},
	"I9": func(e *edge) string {
		a, b := e.states()
		consented := slices.ContainsFunc(a.Grants, func(g Grant) bool {
			return g.By == Ours && g.Action == wire.ActDisclose && slices.Contains(g.Scope, gatedKey)
		})
		decision, _ := e.ev.(Decide)
		switch {
		case e.releases(gatedKey) && !consented, e.releases(principal) && !decision.Granted, e.releases(networkKey):
			return "a value is told past its gate or its audience"
		case len(e.released()) > 0 && (a.Depth != wire.DepthSession || e.view.Authority.At(gidp.Disclose) == gidp.No):
			return "a value is told past the depth or the authority"
		case len(e.released()) > 0 && e.view.Authority.At(gidp.Disclose) == gidp.Approval && !decision.Granted:
			return "a value is told without the Principal"
		case e.releases(mutualKey) && e.view.Attributes[mutualKey].Reciprocal && !slices.Contains(b.Disclosed, mutualKey) && a.Role != Initiator,
			e.releases(verifiedKey) && !slices.Contains(b.Shown, "credential"):
			return "a value is told before its condition is met"
		}
		return ""
	},
	"I10": func(e *edge) string {
		for _, o := range sent[*wire.Handoff](e) {
			if slices.Contains(o.AuthorizedScope, "COMMIT") {
				return "authority to commit is handed over"
			}
		}
		return ""
	},
	"I11": func(e *edge) string {
		a, b := e.states()
		acted := slices.ContainsFunc(e.effects, func(f Effect) bool { return f.Kind == EffectHandoff })
		switch {
		case len(sent[*wire.Handoff](e)) > 0 && !covered(a, Theirs):
			return "a hand-over without the consent of its recipient"
		case acted && (!covered(a, Ours) || b.Phase != Closed || b.Reason != wire.ReasonCompleted):
			return "a hand-over is acted on that was not consented to"
		case a.Phase == HandedOff && slices.ContainsFunc(e.out, func(m Message) bool { return m.Object.Type() != wire.TypeSessionClose }):
			return "something follows a hand-over that is no close"
		}
		return ""
	},
	"I12": func(e *edge) string {
		level, ok := e.level()
		if !ok || e.view.Authority.At(level) != gidp.No || !e.view.Active || e.m.lapsing(e) {
			return ""
		}
		for _, m := range e.out {
			if status, ok := grantOf(m.Object); ok && status != wire.Refused {
				return "what authority forbids is not declined"
			}
		}
		return ""
	},
	"I15": func(e *edge) string {
		_, b := e.states()
		if e.view.Active || e.refusal != nil {
			return ""
		}
		for _, m := range e.out {
			if status, ok := grantOf(m.Object); (!ok || status != wire.Refused) && m.Object.Type() != wire.TypeSessionClose {
				return "an interest that left ACTIVE answers"
			}
		}
		if b.Phase != Closed {
			return "a session of an interest that left ACTIVE goes on"
		}
		return ""
	},
	"I17": func(e *edge) string {
		a, b := e.states()
		acted := slices.ContainsFunc(e.effects, func(f Effect) bool { return f.Kind == EffectHandoff })
		switch {
		case (acted || len(sent[*wire.Handoff](e)) > 0) && !a.Phase.qualified():
			return "a hand-over without qualification"
		case (covered(b, Ours) || covered(b, Theirs)) && (b.Phase == Probing || b.Phase == Qualified):
			return "a consent to a hand-over that did not lead to CONSENTED" // so S-50 and S-51 are never taken from QUALIFIED
		}
		return ""
	},
}

// mistaken reports that the responder closes over an Opportunity while it probes (S-42): "mismatch", which never happens between production sessions (C-01). Where
// an answer reached it only after its question had lapsed, the sides have counted differently, and neither can know (S-16): that is "late".
func (e *edge) mistaken() string {
	a, b := e.states()
	if e.event != string(wire.TypeOpportunity) || e.refusal != nil || a.Phase != Probing || b.Phase != Closed || !e.view.Active || b.Reason == wire.ReasonExpired {
		return ""
	}
	for _, p := range b.Props {
		if q := e.to.side[1-e.side].proposition(Theirs, p.ID); p.Side == Ours && p.Expired && q != nil && q.Result != "" {
			return "late"
		}
	}
	return "mismatch"
}

func (w *walker) judge(e *edge) {
	if kind := e.mistaken(); kind != "" && e.m.hostile == nil {
		w.f.count(kind, e.to)
	}
	for id, rule := range rules {
		if text := rule(e); text != "" {
			w.f.breaks(id, text, e.to)
		}
	}
	if e.refusal == nil && !e.m.lapsing(e) {
		w.f.rows[e.row()]++
	}
	if w.f.seen != nil {
		a, b := e.states()
		w.f.shapes[fmt.Sprint(e.side, " ", e.row(), " ", a.WireState(), " ", shape(a), " ", shape(b), e.refusal)] = true
		w.f.seen[sum(fmt.Appendf(nil, "%d %x %x %v %v %s %s", e.side, appendState(nil, a), appendState(nil, b), e.to.left[e.side], e.to.clock[e.side], e.event,
			texts(e.out)))] = true
	}
}

// shape is what still matters of the answers in a view, without a name.
func shape(s *State) string {
	list := []string{string(s.Reason)}
	if s.Phase == Closed || s.Phase == HandedOff {
		return list[0]
	}
	if !s.Phase.qualified() {
		list = append(list, string(s.Vote))
	}
	for _, p := range s.Props {
		switch {
		case p.Withdrawn:
		case s.Phase.qualified() && p.Result != "" && p.Result != wire.Incompatible:
			list = append(list, fmt.Sprint(p.Side, " answered ", p.Expired))
		default:
			list = append(list, fmt.Sprint(p.Side, " ", p.Result, " ", p.Expired))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// lapsing reports a step at the start of which a deadline had passed that no tick has told yet.
func (m *model) lapsing(e *edge) bool {
	a, _ := e.states()
	if e.event == "Tick" || len(m.times) == 0 || a.Phase == Closed || a.Phase == None {
		return false
	}
	now := m.now(e.to, e.side).Unix()
	late := func(s Slot, margin int64) bool { return s.Kind != SlotEmpty && now > s.Deadline-margin }
	return now > a.EndsAt || late(a.Recv, margin(a.Recv.Life)) || late(a.Sent, 0) ||
		slices.ContainsFunc(slices.Concat(a.AsksIn, a.AsksOut), func(q Ask) bool { return now > q.Deadline })
}

// atRest looks at a node where nothing is under way.
func (w *walker) atRest(n *node) {
	m, f := w.m, w.f
	if f.seen != nil {
		f.seen[n.key()] = true
		f.shapes[fmt.Sprint("rest ", n.side[0].WireState(), " ", shape(n.side[0]), " ", n.side[1].WireState(), " ", shape(n.side[1]))] = true
	}
	if m.hostile != nil {
		return
	}
	a, b := n.side[0], n.side[1]
	if a.Phase == Closed != (b.Phase == Closed) && n.clock[0] == n.clock[1] && a.Phase != None {
		f.breaks("I6", "one side is closed, and the other waits", n)
	}
	if !a.Phase.active() || !b.Phase.active() {
		return
	}
	if a.Phase.qualified() != b.Phase.qualified() {
		f.count("split", n)
		f.breaks("I18", "one side has qualified alone", n)
	}
	for i := range 2 {
		ours, theirs := n.side[i], n.side[1-i]
		if n.clock != [2]int8{} { // a wait may have ended on one side
			break
		}
		if ours.Sent.ID != theirs.Recv.ID || ours.Sent.Provisional != theirs.Recv.Provisional {
			f.breaks("I6", "a request is answered, and waits", n)
		}
		for _, q := range ours.AsksOut {
			if !slices.ContainsFunc(theirs.AsksIn, func(h Ask) bool { return h.ID == q.ID }) {
				f.breaks("I6", "a question is answered, and waits", n)
			}
		}
	}
	asked := slices.ContainsFunc(a.Props, func(p Proposition) bool { return p.Side == Ours && p.Result != "" && !p.Withdrawn })
	if a.Phase == Probing && b.Phase == Probing && asked && m.holds(n, 0) && m.holds(n, 1) {
		for _, ev := range m.refreshes(a) {
			if _, _, _, err := m.step(Env{Now: m.now(n, 0), Config: m.cfg, View: m.view(0, allowed())}, *a, ev); err == nil {
				return
			}
		}
		if a.Refreshes >= m.cfg.Refreshes && m.refresh {
			f.count("spent", n)
			return
		}
		f.count("stuck", n)
		f.breaks("I16", "both sides are satisfied, and nothing leads on", n)
	}
}

// holds reports whether a side may qualify, unanswered claims aside where they are ignored.
func (m *model) holds(n *node, i int) bool {
	r := &run{env: Env{Now: m.now(n, i), Config: m.cfg, View: m.view(i, allowed())}, st: *n.side[i]}
	return r.entry()
}

// satisfied is E1 to E6 of sec. 5.2 (I4).
func satisfied(s *State) bool {
	for _, p := range s.Props {
		if !p.Withdrawn && p.Result == "" {
			return false
		}
	}
	return agreeable(s) && len(s.Requires) == 0 && s.Sent.Kind == SlotEmpty && s.Recv.Kind == SlotEmpty && len(s.AsksOut)+len(s.AsksIn) == 0
}

// agreeable is what the answers have to be: all of those that stand allow it, and one is definite.
func agreeable(s *State) bool {
	definite := false
	for _, p := range s.Props {
		if p.Withdrawn || p.Result == "" {
			continue
		}
		if p.Result != wire.Compatible && p.Result != wire.Conditionally {
			return false
		}
		definite = definite || p.Result == wire.Compatible
	}
	return definite
}

// answers is I6: each answer is the one that a request waits for, and nothing is said after the close.
func (e *edge) answers() string {
	a, b := e.states()
	closed := a.Phase == Closed
	if closed && b.Phase != Closed {
		return "a closed session came back"
	}
	var done []string
	for _, m := range e.out {
		if closed {
			return "something is said after the close"
		}
		ref, terminal, ok := answerOf(m.Object)
		if _, isClose := m.Object.(*wire.SessionClose); isClose {
			closed = true
		}
		if !ok {
			continue
		}
		fresh := false
		switch o := e.received().(type) {
		case *wire.CompatibilityRequest:
			fresh = o.RequestID == ref
		case *wire.DisclosureRequest:
			fresh = o.RequestID == ref
		case *wire.ConsentRequest:
			fresh = o.RequestID == ref
		}
		held := slices.ContainsFunc(a.AsksIn, func(q Ask) bool { return q.ID == ref })
		switch {
		case fresh && slices.Contains(a.PeerIDs, ref):
			return "a request is answered anew"
		case !fresh && !held && a.Recv.ID != ref, slices.Contains(done, ref):
			return "an answer to no open request"
		case !terminal && (!fresh || b.Recv.ID != ref):
			return "a second provisional answer"
		case terminal && (b.Recv.ID == ref || slices.ContainsFunc(b.AsksIn, func(q Ask) bool { return q.ID == ref })):
			return "an answered request stays open"
		}
		done = append(done, ref)
	}
	// What waited and waits no more was answered, or the session is over, or time has passed.
	if a.Recv.Kind != SlotEmpty && b.Recv.ID != a.Recv.ID && b.Phase != Closed && !slices.Contains(done, a.Recv.ID) {
		return "a request is dropped without an answer"
	}
	return ""
}

func answerOf(o wire.Object) (ref string, terminal, ok bool) {
	switch o := o.(type) {
	case *wire.CompatibilityResponse:
		return o.RequestRef, true, true
	case *wire.DisclosureResponse:
		return o.RequestRef, o.Status.Terminal(), true
	case *wire.ConsentResponse:
		return o.RequestRef, o.Status.Terminal(), true
	}
	return "", false, false
}

func grantOf(o wire.Object) (wire.Grant, bool) {
	switch o := o.(type) {
	case *wire.DisclosureResponse:
		return o.Status, true
	case *wire.ConsentResponse:
		return o.Status, true
	}
	return "", false
}

// sent returns what a step sent of one type.
func sent[T wire.Object](e *edge) (list []T) {
	for _, m := range e.out {
		if o, ok := m.Object.(T); ok {
			list = append(list, o)
		}
	}
	return list
}

func (e *edge) received() wire.Object {
	if r, ok := e.ev.(Receive); ok {
		return r.Object
	}
	return nil
}

// level is the authority that the request for a value or a consent needs which a step answers.
func (e *edge) level() (gidp.Level, bool) {
	a, _ := e.states()
	var action wire.Action
	switch o := e.received().(type) {
	case *wire.DisclosureRequest:
		return gidp.Disclose, true
	case *wire.ConsentRequest:
		action = o.Action
	default:
		if d, ok := e.ev.(Decide); !ok || a.Recv.Kind == SlotEmpty || d.Ref != a.Recv.ID {
			return 0, false
		}
		action = a.Recv.Action
	}
	if action == wire.ActDisclose || action == "" {
		return gidp.Disclose, true
	}
	return gidp.Introduce, true
}

// said is what the evaluator answers in this step.
func (e *edge) said() ([]gidp.Answer, bool) {
	switch ev := e.ev.(type) {
	case Receive:
		return ev.Answers, len(ev.Answers) > 0
	case Decide:
		return ev.Answers, ev.Granted && len(ev.Answers) > 0
	}
	return nil, false
}

// released are the attributes whose values leave with a step.
func (e *edge) released() (keys []string) {
	for _, m := range e.out {
		if m.Release != "" {
			keys = append(keys, m.Release)
		}
	}
	return keys
}

func (e *edge) releases(key string) bool { return slices.Contains(e.released(), key) }

// tells reports whether a step gives the value of an attribute, or a consent to give it.
func (e *edge) tells(key string) bool {
	return e.releases(key) || slices.ContainsFunc(sent[*wire.ConsentResponse](e), func(o *wire.ConsentResponse) bool { return slices.Contains(o.GrantedScope, key) })
}

// names reports whether a request is about an attribute.
func (e *edge) names(key string) bool {
	switch o := e.received().(type) {
	case *wire.DisclosureRequest:
		return o.Attribute == key
	case *wire.ConsentRequest:
		return slices.Contains(o.Scope, key)
	}
	return false
}

// covered reports a consent to the one target that is handed over to.
func covered(s *State, by Side) bool {
	return slices.ContainsFunc(s.Grants, func(g Grant) bool {
		return g.By == by && g.Action == wire.ActHandoff && slices.Contains(g.Scope, "urn:t")
	})
}

// texts are the bytes of what was sent.
func texts(out []Message) string {
	var b strings.Builder
	for _, m := range out {
		data, err := wire.Encode(m.Object)
		fmt.Fprintf(&b, "%s %v\n", data, err)
	}
	return b.String()
}
