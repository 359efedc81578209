package agent

import (
	"slices"
	"time"

	"sayso/gidp/wire"
)

// The bounds of what grows out of one lead (sec. 14).
const (
	maxExpansionDepth    = 3
	maxMembers           = 8 // this side included
	maxCoalitionSessions = 32
	maxDependencies      = 256 // that are recorded
)

// coalition is the sealed record of what grew out of one lead. It never leaves, and nothing on the wire speaks of it.
type coalition struct {
	Lead         string       `json:"lead"`
	Edges        []edge       `json:"edges"` // the lead first, then in the order in which they were opened
	Dependencies []dependency `json:"dependencies,omitempty"`
}

// edge is one bilateral session.
type edge struct {
	Session    string      `json:"session"`
	From       string      `json:"from,omitzero"`       // the lead it was derived from; "" of the first
	Dependency string      `json:"dependency,omitzero"` // the name it was opened for; "" of the first
	Depth      int         `json:"depth"`
	State      string      `json:"state"`
	Answer     wire.Result `json:"answer,omitzero"` // to the question whether the peer provides it
	Over       bool        `json:"over,omitzero"`
}

// dependency is one name that a lead hangs on.
type dependency struct {
	Name        string `json:"name"`
	List        string `json:"list"` // conditional_on or requires
	From        string `json:"from"` // the lead
	Depth       int    `json:"depth"`
	Circular    bool   `json:"circular,omitzero"`
	Exploration string `json:"exploration,omitzero"` // the last one that its Principal approved
}

// The states of a dependency. None of them says that it is satisfied: a session records a dependency and never satisfies it.
const (
	dependencyOpen     = "open"
	dependencySearched = "searching"
	dependencyAnswered = "answered_compatible"
	dependencyCircular = "circular_unresolved"
	dependencyTooDeep  = "too_deep"
)

func qualifies(r wire.Result) bool { return r == wire.Compatible || r == wire.Conditionally }

// edge finds the edge of a session; nil when there is none.
func (c *coalition) edge(session string) *edge {
	if i := slices.IndexFunc(c.Edges, func(e edge) bool { return e.Session == session }); i >= 0 {
		return &c.Edges[i]
	}
	return nil
}

func (c *coalition) dependency(from, name string) *dependency {
	if i := slices.IndexFunc(c.Dependencies, func(d dependency) bool { return d.From == from && d.Name == name }); i >= 0 {
		return &c.Dependencies[i]
	}
	return nil
}

// note puts an edge into the record, or what has become of it.
func (c *coalition) note(e edge) {
	if old := c.edge(e.Session); old != nil {
		*old = e
		return
	}
	c.Edges = append(c.Edges, e)
}

// depend records a name that a lead hangs on. It is circular when this interest provides it itself, or when it is a name that this lead was searched for, at any
// remove: then somebody waits for somebody who waits for them, and no further search ends that.
func (c *coalition) depend(from, name, list string, provides []string) {
	e := c.edge(from)
	if e == nil || c.dependency(from, name) != nil || len(c.Dependencies) >= maxDependencies {
		return
	}
	circular := slices.Contains(provides, name) || slices.Contains(c.chain(from), name)
	c.Dependencies = append(c.Dependencies, dependency{Name: name, List: list, From: from, Depth: e.Depth + 1, Circular: circular})
}

// chain are the names that led to a session, the nearest first.
func (c *coalition) chain(session string) []string {
	var out []string
	for e := c.edge(session); e != nil && e.From != "" && len(out) < maxExpansionDepth; e = c.edge(e.From) {
		out = append(out, e.Dependency)
	}
	return out
}

// members counts this side, the other side of the lead, and whoever is being asked or has answered with a qualifying result.
func (c *coalition) members() int {
	n := 1
	for i, e := range c.Edges {
		if i == 0 || !e.Over || qualifies(e.Answer) {
			n++
		}
	}
	return n
}

// room reports whether another session may be opened.
func (c *coalition) room() bool {
	return c.members() < maxMembers && len(c.Edges) < maxCoalitionSessions
}

// over reports whether every session has ended.
func (c *coalition) over() bool {
	return !slices.ContainsFunc(c.Edges, func(e edge) bool { return !e.Over })
}

// state is what became of a dependency. searching says that a provider is being asked for it.
func (c *coalition) state(d *dependency, searching bool) string {
	asked := false
	for _, e := range c.Edges {
		if e.From != d.From || e.Dependency != d.Name {
			continue
		}
		if qualifies(e.Answer) {
			return dependencyAnswered
		}
		asked = asked || !e.Over && e.Answer == ""
	}
	switch {
	case d.Circular:
		return dependencyCircular
	case d.Depth > maxExpansionDepth:
		return dependencyTooDeep
	case asked, searching:
		return dependencySearched
	}
	return dependencyOpen
}

// isName reports whether a dependency can be asked about: a label of lower-case letters, digits and _. Other text of a peer is carried to nobody.
func isName(s string) bool {
	if s == "" || len(s) > 64 || s == wire.Undisclosed {
		return false
	}
	for i, r := range []byte(s) {
		if (r < 'a' || r > 'z') && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return true
}

// ExpansionView is what grew out of one lead by named dependencies, which is experimental. Each edge is an ordinary session between two sides; nobody but this side knows of the
// others. State is that of the dependency that is worst off: circular_unresolved (people have to look at it), open, searching, too_deep or answered_compatible.
type ExpansionView struct {
	Experimental bool             `json:"experimental"` // always true
	ID           string           `json:"id"`
	Principal    string           `json:"principal_ref"`
	Interest     string           `json:"interest"`
	Lead         string           `json:"lead"` // the session it began with
	State        string           `json:"state"`
	Started      time.Time        `json:"started"`
	Depth        int              `json:"depth"`    // of the furthest edge, at most 3
	Members      int              `json:"members"`  // at most 8, this side included
	Sessions     int              `json:"sessions"` // at most 32, those that are over included
	Dependencies []DependencyView `json:"dependencies"`
	Edges        []EdgeView       `json:"edges"`
	Statement    string           `json:"statement"` // what the record means
}

// DependencyView is one name that a lead hangs on. State is open (nobody is asked), searching, answered_compatible (somebody answered that it provides what has this name, and
// nothing is satisfied by it), circular_unresolved or too_deep.
type DependencyView struct {
	Name  string `json:"name"`
	List  string `json:"list"` // conditional_on, or requires of this interest
	Lead  string `json:"lead"` // the session that hangs on it
	Depth int    `json:"depth"`
	State string `json:"state"`
}

// EdgeView is one session of an expansion.
type EdgeView struct {
	Session    string `json:"session"`
	Lead       string `json:"lead,omitempty"`       // the session it was derived from
	Dependency string `json:"dependency,omitempty"` // the name it was opened for
	Depth      int    `json:"depth"`
	State      string `json:"state"`            // of the session (§17.2)
	Answer     string `json:"answer,omitempty"` // to the question whether the other side provides it
}

const expansionStatement = "Experimental. This is a list of sessions, each between two sides, and of the names they hang on. An answer says that somebody provides what has such a name; no dependency is " +
	"satisfied by it, nobody has agreed to anything, and whether all of it holds together is for people to find out."

// worst orders the states of dependencies for the state of the whole.
var worst = []string{dependencyCircular, dependencyOpen, dependencySearched, dependencyTooDeep, dependencyAnswered}

// view is the record as its Principal sees it. searching lists the explorations that still ask a provider.
func (c *coalition) view(searching []string) ExpansionView {
	v := ExpansionView{Experimental: true, Lead: c.Lead, State: dependencyAnswered, Members: c.members(), Sessions: len(c.Edges), Dependencies: []DependencyView{}, Edges: []EdgeView{},
		Statement: expansionStatement}
	for i := range c.Dependencies {
		d := &c.Dependencies[i]
		state := c.state(d, slices.Contains(searching, d.Exploration))
		v.Dependencies = append(v.Dependencies, DependencyView{Name: d.Name, List: d.List, Lead: d.From, Depth: d.Depth, State: state})
		if slices.Index(worst, state) < slices.Index(worst, v.State) {
			v.State = state
		}
	}
	for _, e := range c.Edges {
		v.Depth = max(v.Depth, e.Depth)
		v.Edges = append(v.Edges, EdgeView{Session: e.Session, Lead: e.From, Dependency: e.Dependency, Depth: e.Depth, State: e.State, Answer: string(e.Answer)})
	}
	return v
}
