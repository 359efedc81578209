package session

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sayso/gidp/wire"
)

// The key of a node up to what makes no difference. Two nodes with one key have the same future but for names.
//
//   - Identifiers of requests and claims, and the keys of claims, are only compared. Claims are put in an order of their own, and each name is replaced by a number.
//   - The order of claims, of outstanding questions and of consents is not looked at.
//   - The count of requests, and the list of the peer's, only keep identifiers fresh: what matters is which of those under way have arrived before.
//   - An answer that stands does not matter after qualification, but for a contradiction, which closes. A claim that both sides know to be superseded does not
//     matter, nor does a consent to give what is given without.
//   - A closed session does not change, and what arrives there is only told apart by its type. After a hand-over only closes and hand-overs count.
//
// [TestReductionLosesNothing] compares the search with the one by the whole state.

// canon writes a key.
type canon struct {
	n     *node
	b     []byte
	names map[string]uint64 // per side and kind
}

func (c *canon) text(s string)  { c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...) }
func (c *canon) number(v int64) { c.b = binary.AppendVarint(c.b, v) }

func (c *canon) flags(list ...bool) {
	for _, v := range list {
		if v {
			c.b = append(c.b, 1)
		} else {
			c.b = append(c.b, 0)
		}
	}
}

// name writes the number of an identifier, which is the next one where it is new.
func (c *canon) name(kind byte, side int, id string) {
	k := string([]byte{kind, byte(side)}) + id
	v, ok := c.names[k]
	if !ok {
		v = uint64(len(c.names))
		c.names[k] = v
	}
	c.b = binary.AppendUvarint(c.b, v)
}

func canonical(n *node) hash {
	c := &canon{n: n, b: make([]byte, 0, 512), names: make(map[string]uint64, 16)}
	for i := range 2 {
		c.claims(i)
	}
	for i := range 2 {
		c.state(i)
	}
	for i := range 2 {
		c.number(int64(len(n.link[i])))
		for _, p := range n.link[i] {
			if n.side[i].Phase == Closed {
				c.text(string(p.o.Type()))
			} else {
				c.object(i, p)
			}
		}
	}
	return sum(c.b)
}

// claims numbers the claims of a side, in the order of all that is known of each.
func (c *canon) claims(i int) {
	type known struct{ id, key, sign string }
	var list []known
	at := func(id, key string) *known {
		for j := range list {
			if list[j].id == id {
				return &list[j]
			}
		}
		list = append(list, known{id: id, key: key})
		return &list[len(list)-1]
	}
	mark := func(p *Proposition, view byte, qualified bool) {
		k := at(p.ID, p.Key)
		sign := []byte{view, 0, 0}
		result := string(p.Result)
		if result == "" {
			sign[1] = byte(len(p.Supersedes))
		} else if qualified && p.Result != wire.Incompatible {
			result = "answered"
		}
		for j, v := range []bool{p.Expired, p.Withdrawn, p.Evaluated} {
			if v {
				sign[2] |= 1 << j
			}
		}
		k.sign += string(sign) + result + ";"
	}
	for j, side := range []Side{Ours, Theirs} {
		s := c.n.side[(i+j)%2]
		if s.Phase == Closed || s.Phase == HandedOff {
			continue
		}
		for k := range s.Props {
			if s.Props[k].Side == side {
				mark(&s.Props[k], byte('a'+j), s.Phase.qualified())
			}
		}
		asks := s.AsksOut
		if side == Theirs {
			asks = s.AsksIn
		}
		for _, q := range asks {
			for _, id := range q.Claims {
				at(id, "").sign += string([]byte{'q', byte(j)}) + string(binary.AppendVarint(nil, q.Deadline))
			}
		}
	}
	for place, p := range c.n.link[1-i] {
		if o, ok := p.o.(*wire.CompatibilityRequest); ok && c.n.side[1-i].Phase != Closed {
			at(o.Claims[0].ID, o.Claims[0].Key).sign += string([]byte{'r', byte(place)})
		}
	}
	for place, p := range c.n.link[i] {
		if o, ok := p.o.(*wire.CompatibilityResponse); ok && c.n.side[i].Phase != Closed {
			at(o.Results[0].ClaimID, o.Results[0].Key).sign += string([]byte{'s', byte(place)}) + c.result(i, o)
		}
	}
	for _, k := range list { // claims on one key are told apart by how many they are
		same := byte(0)
		for _, l := range list {
			if l.key == k.key {
				same++
			}
		}
		at(k.id, "").sign += string([]byte{'k', same})
		a, b := c.n.side[i].proposition(Ours, k.id), c.n.side[1-i].proposition(Theirs, k.id)
		if same == 1 && a != nil && b != nil && a.Withdrawn && b.Withdrawn {
			at(k.id, "").sign = gone
		}
	}
	slices.SortStableFunc(list, func(a, b known) int {
		switch {
		case a.sign < b.sign:
			return -1
		case a.sign > b.sign:
			return 1
		}
		return 0
	})
	list = slices.DeleteFunc(list, func(k known) bool { return k.sign == gone })
	c.number(int64(len(list)))
	for _, k := range list {
		c.name('c', i, k.id)
		c.name('k', 0, k.key)
		c.text(k.sign)
	}
}

// gone is how a claim is signed that both sides know to be superseded, and whose key is no other's.
const gone = "gone"

// result is what an answer to side i changes there.
func (c *canon) result(i int, o *wire.CompatibilityResponse) string {
	r := o.Results[0].Result
	if c.n.side[i].Phase.qualified() && r != wire.Incompatible {
		return "answered"
	}
	return string(r)
}

func (c *canon) state(i int) {
	s, l := c.n.side[i], c.n.left[i]
	c.text(string(s.Phase))
	if s.Phase == Closed {
		c.text(string(s.Reason))
		return
	}
	c.b = append(c.b, byte(c.n.clock[i]), byte(l.Leaves), byte(l.Copies), byte(l.Versions))
	if s.Phase == HandedOff {
		c.flags(covered(s, Ours))
		c.list(s.Contingent)
		return
	}
	c.b = append(c.b, byte(l.Opens), byte(l.Asks), byte(l.Disclosures), byte(l.Consents), byte(l.Handoffs))
	c.text(string(s.Depth))
	c.number(s.EndsAt)
	c.slot(i, &s.Sent)
	c.slot(1-i, &s.Recv)
	var parts []string
	part := func(write func()) {
		from := len(c.b)
		write()
		parts = append(parts, string(c.b[from:]))
		c.b = c.b[:from]
	}
	join := func() {
		slices.Sort(parts)
		c.number(int64(len(parts)))
		for _, p := range parts {
			c.text(p)
		}
		parts = nil
	}
	for j := range s.Props {
		p := &s.Props[j]
		if len(p.Supersedes) > 0 && p.Result == "" {
			owner := i
			if p.Side == Theirs {
				owner = 1 - i
			}
			part(func() {
				c.name('c', owner, p.ID)
				for _, id := range p.Supersedes {
					c.name('c', owner, id)
				}
			})
		}
	}
	join()
	for j, asks := range [][]Ask{s.AsksOut, s.AsksIn} {
		for _, q := range asks {
			part(func() {
				c.name('c', (i+j)%2, q.Claims[0])
				c.number(q.Deadline)
				c.flags(q.Held)
			})
		}
		join()
	}
	for _, g := range s.Grants {
		if !idle(g.Action, g.Scope) {
			part(func() {
				c.text(string(g.By))
				c.text(string(g.Action))
				c.list(g.Scope)
				c.text(string(g.Phase))
				c.flags(g.Principal)
			})
		}
	}
	join()
	c.list(s.Contingent)
	c.flags(slices.Contains(s.Disclosed, mutualKey))
	c.list(s.Shown)
	if s.Phase.qualified() {
		return
	}
	c.text(string(s.Vote))
	c.list(s.Requires)
	c.list(s.Stated)
	c.flags(s.Vetoed, s.Renews, s.Emitted)
	c.number(int64(s.Refreshes))
}

// idle reports a consent that opens nothing.
func idle(action wire.Action, scope []string) bool {
	return action == wire.ActDisclose && !slices.ContainsFunc(scope, func(key string) bool { return key != openKey })
}

func (c *canon) list(v []string) {
	c.number(int64(len(v)))
	for _, e := range v {
		c.text(e)
	}
}

func (c *canon) slot(owner int, s *Slot) {
	c.text(string(s.Kind))
	if s.Kind == SlotEmpty {
		return
	}
	c.name('r', owner, s.ID)
	c.text(s.Attribute)
	c.text(s.Surface)
	c.text(string(s.Action))
	c.list(s.Scope)
	c.text(string(s.Provisional))
	c.number(s.Deadline)
	c.number(s.Life)
	c.text(string(s.Phase))
}

// object writes what is under way to side i.
func (c *canon) object(i int, p parcel) {
	c.text(string(p.o.Type()))
	c.number(p.o.Expires().Unix())
	old := func(id string) { c.flags(slices.Contains(c.n.side[i].PeerIDs, id)) }
	switch o := p.o.(type) {
	case *wire.CompatibilityRequest:
		c.name('c', 1-i, o.Claims[0].ID)
		c.name('k', 0, o.Claims[0].Key)
		for _, id := range o.Claims[0].Supersedes {
			c.name('c', 1-i, id)
		}
		old(o.RequestID)
	case *wire.CompatibilityResponse:
		c.name('c', i, o.Results[0].ClaimID)
		c.text(c.result(i, o))
		if s := c.n.side[i]; s.Role == Initiator && !s.Phase.qualified() { // it is a report
			c.text(string(o.SessionStatus))
			c.list(o.ContingentOn)
		}
		c.list(o.Requires)
	case *wire.DisclosureRequest:
		c.name('r', 1-i, o.RequestID)
		c.text(o.Attribute)
		old(o.RequestID)
	case *wire.DisclosureResponse:
		c.name('r', i, o.RequestRef)
		c.text(o.Attribute)
		if status := o.Status; !status.Terminal() || o.Attribute == mutualKey {
			c.text(string(status))
		}
	case *wire.ConsentRequest:
		c.name('r', 1-i, o.RequestID)
		c.text(string(o.Action))
		c.list(o.Scope)
		old(o.RequestID)
	case *wire.ConsentResponse:
		c.name('r', i, o.RequestRef)
		sent := c.n.side[i].Sent
		c.flags(o.Status.Terminal(), sent.ID == o.RequestRef)
		if !sent.Phase.qualified() && idle(sent.Action, sent.Scope) || sent.ID != o.RequestRef {
			return
		}
		c.text(string(o.Status))
		c.list(o.GrantedScope)
	case *wire.Opportunity:
		c.number(int64(o.EvaluatedDimensions))
		c.number(int64(o.CompatibleDimensions))
		var keys []string
		for _, key := range o.OpenConditions {
			from := len(c.b)
			c.name('k', 0, key)
			keys = append(keys, string(c.b[from:]))
			c.b = c.b[:from]
		}
		slices.Sort(keys)
		c.list(keys)
		c.list(o.ContingentOn)
	case *wire.SessionClose:
		c.text(string(o.Reason))
	case *wire.Handoff:
		c.text(o.Target.ProtocolRef)
		c.list(o.ContingentOn)
	default:
		data, err := wire.Encode(o)
		c.text(fmt.Sprint(string(data), err))
	}
}
