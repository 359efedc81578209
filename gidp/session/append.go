package session

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"sayso/jcs"
)

// A state is written at every step. It is written by hand, as its tags say: reflection takes ten times as long. A test draws every member.

// Append writes the state canonically: equal states give equal bytes. It is how a state is kept.
func (s *State) Append(dst []byte) ([]byte, error) {
	if !s.plain() {
		return appendValue(dst, s) // which says what is wrong
	}
	dst = slices.Grow(dst, 1024+192*len(s.Props))
	dst = jcs.AppendString(append(dst, `{"id":`...), s.ID)
	dst = jcs.AppendString(append(dst, `,"role":`...), string(s.Role))
	dst = jcs.AppendString(append(dst, `,"phase":`...), string(s.Phase))
	dst = jcs.AppendString(append(dst, `,"self":`...), s.Self)
	dst = jcs.AppendString(append(dst, `,"peer":`...), s.Peer)
	dst = jcs.AppendString(append(dst, `,"open_id":`...), s.OpenID)
	dst = jcs.AppendString(append(dst, `,"profile":`...), s.Profile)
	dst = jcs.AppendString(append(dst, `,"depth":`...), string(s.Depth))
	dst = appendList(append(dst, `,"features":`...), s.Features)
	dst = strconv.AppendInt(append(dst, `,"ends_at":`...), s.EndsAt, 10)
	dst = strconv.AppendInt(append(dst, `,"issued":`...), int64(s.Issued), 10)
	dst = appendList(append(dst, `,"peer_ids":`...), s.PeerIDs)
	dst = s.Sent.append(append(dst, `,"sent":`...))
	dst = s.Recv.append(append(dst, `,"recv":`...))
	dst = appendEach(append(dst, `,"asks_out":`...), s.AsksOut, (*Ask).append)
	dst = appendEach(append(dst, `,"asks_in":`...), s.AsksIn, (*Ask).append)
	dst = appendEach(append(dst, `,"props":`...), s.Props, (*Proposition).append)
	dst = appendEach(append(dst, `,"grants":`...), s.Grants, (*Grant).append)
	dst = jcs.AppendString(append(dst, `,"vote":`...), string(s.Vote))
	dst = appendList(append(dst, `,"requires":`...), s.Requires)
	dst = appendList(append(dst, `,"stated":`...), s.Stated)
	dst = appendList(append(dst, `,"contingent":`...), s.Contingent)
	dst = appendList(append(dst, `,"disclosed":`...), s.Disclosed)
	dst = appendList(append(dst, `,"shown":`...), s.Shown)
	dst = strconv.AppendBool(append(dst, `,"vetoed":`...), s.Vetoed)
	dst = appendFlag(dst, `,"renews":true`, s.Renews)
	dst = strconv.AppendInt(append(dst, `,"refreshes":`...), int64(s.Refreshes), 10)
	dst = strconv.AppendInt(append(dst, `,"refreshed":`...), s.Refreshed, 10)
	dst = strconv.AppendBool(append(dst, `,"emitted":`...), s.Emitted)
	dst = jcs.AppendString(append(dst, `,"reason":`...), string(s.Reason))
	return append(dst, '}'), nil
}

// plain reports whether all texts of a state are UTF-8.
func (s *State) plain() bool {
	return plain(s.ID, s.Self, s.Peer, s.OpenID, s.Profile) && plain(s.Role) && plain(s.Phase) && plain(s.Depth) && plain(s.Vote) && plain(s.Reason) &&
		plain(s.Features...) && plain(s.PeerIDs...) && plain(s.Requires...) && plain(s.Stated...) && plain(s.Contingent...) && plain(s.Disclosed...) && plain(s.Shown...) &&
		s.Sent.plain() && s.Recv.plain() && all(s.AsksOut, (*Ask).plain) && all(s.AsksIn, (*Ask).plain) && all(s.Props, (*Proposition).plain) && all(s.Grants, (*Grant).plain)
}

// AppendPropositions writes propositions as [State.Append] does, a list of their own: a long session may be kept in parts.
func AppendPropositions(dst []byte, list []Proposition) ([]byte, error) {
	if !all(list, (*Proposition).plain) {
		return appendValue(dst, list)
	}
	return appendEach(slices.Grow(dst, 192*len(list)), list, (*Proposition).append), nil
}

// Parse reads what [State.Append] wrote. Errors are those of package jcs.
func Parse(data []byte) (State, error) {
	var s State
	err := jcs.DecodeKnown(data, &s)
	return s, err
}

// ParsePropositions reads what [AppendPropositions] wrote. Errors are those of package jcs.
func ParsePropositions(data []byte) ([]Proposition, error) {
	var list []Proposition
	err := jcs.DecodeKnown(data, &list)
	return list, err
}

func appendValue(dst []byte, v any) ([]byte, error) {
	text, err := jcs.Encode(v)
	return append(dst, text...), err
}

func plain[T ~string](texts ...T) bool {
	for _, text := range texts {
		if !utf8.ValidString(string(text)) {
			return false
		}
	}
	return true
}

func all[T any](list []T, holds func(*T) bool) bool {
	for i := range list {
		if !holds(&list[i]) {
			return false
		}
	}
	return true
}

func appendEach[T any](dst []byte, list []T, one func(*T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(&list[i], dst)
	}
	return append(dst, ']')
}

func appendList[T ~string](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, text := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jcs.AppendString(dst, string(text))
	}
	return append(dst, ']')
}

func appendFlag(dst []byte, member string, set bool) []byte {
	if set {
		dst = append(dst, member...)
	}
	return dst
}

func (s *Slot) plain() bool {
	return plain(s.ID, s.Attribute, s.Surface) && plain(s.Kind) && plain(s.Action) && plain(s.Provisional) && plain(s.Phase) && plain(s.Scope...)
}

func (s *Slot) append(dst []byte) []byte {
	dst = append(dst, '{')
	from := len(dst)
	name := func(name string) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(dst, name...)
	}
	text := func(member, value string) {
		if value != "" {
			name(member)
			dst = jcs.AppendString(dst, value)
		}
	}
	number := func(member string, n int64) {
		if n != 0 {
			name(member)
			dst = strconv.AppendInt(dst, n, 10)
		}
	}
	text(`"kind":`, string(s.Kind))
	text(`"id":`, s.ID)
	text(`"attribute":`, s.Attribute)
	text(`"surface":`, s.Surface)
	text(`"action":`, string(s.Action))
	if len(s.Scope) > 0 {
		name(`"scope":`)
		dst = appendList(dst, s.Scope)
	}
	text(`"provisional":`, string(s.Provisional))
	number(`"deadline":`, s.Deadline)
	number(`"life":`, s.Life)
	text(`"phase":`, string(s.Phase))
	return append(dst, '}')
}

func (a *Ask) plain() bool { return plain(a.ID) && plain(a.Claims...) }

func (a *Ask) append(dst []byte) []byte {
	dst = jcs.AppendString(append(dst, `{"id":`...), a.ID)
	dst = appendList(append(dst, `,"claims":`...), a.Claims)
	dst = strconv.AppendInt(append(dst, `,"deadline":`...), a.Deadline, 10)
	return append(appendFlag(dst, `,"held":true`, a.Held), '}')
}

func (g *Grant) plain() bool {
	return plain(g.By) && plain(g.Action) && plain(g.Phase) && plain(g.Scope...)
}

func (g *Grant) append(dst []byte) []byte {
	dst = jcs.AppendString(append(dst, `{"by":`...), string(g.By))
	dst = jcs.AppendString(append(dst, `,"action":`...), string(g.Action))
	dst = appendList(append(dst, `,"scope":`...), g.Scope)
	dst = jcs.AppendString(append(dst, `,"phase":`...), string(g.Phase))
	return append(appendFlag(dst, `,"principal":true`, g.Principal), '}')
}

func (p *Proposition) plain() bool {
	return plain(p.ID, p.Key, p.Digest) && plain(p.Side) && plain(p.Result) && plain(p.Supersedes...)
}

func (p *Proposition) append(dst []byte) []byte {
	dst = jcs.AppendString(append(dst, `{"side":`...), string(p.Side))
	dst = jcs.AppendString(append(dst, `,"id":`...), p.ID)
	dst = jcs.AppendString(append(dst, `,"key":`...), p.Key)
	dst = jcs.AppendString(append(dst, `,"digest":`...), p.Digest)
	if p.Result != "" {
		dst = jcs.AppendString(append(dst, `,"result":`...), string(p.Result))
	}
	dst = appendFlag(dst, `,"expired":true`, p.Expired)
	dst = appendFlag(dst, `,"withdrawn":true`, p.Withdrawn)
	dst = appendFlag(dst, `,"evaluated":true`, p.Evaluated)
	if len(p.Supersedes) > 0 {
		dst = appendList(append(dst, `,"supersedes":`...), p.Supersedes)
	}
	return append(dst, '}')
}

// Equal reports whether two propositions are the same in every member.
func (p *Proposition) Equal(q *Proposition) bool {
	return p.Side == q.Side && p.ID == q.ID && p.Key == q.Key && p.Digest == q.Digest && p.Result == q.Result && p.Expired == q.Expired &&
		p.Withdrawn == q.Withdrawn && p.Evaluated == q.Evaluated && slices.Equal(p.Supersedes, q.Supersedes)
}
