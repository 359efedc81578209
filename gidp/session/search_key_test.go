package session

import (
	"encoding/binary"
	"reflect"
	"testing"

	"sayso/gidp/wire"
)

// appendState writes all of a state: states differ when their bytes do. It is [State.Append] without the names, since a search spends its time here.
func appendState(b []byte, s *State) []byte {
	text := func(v string) { b = append(binary.AppendUvarint(b, uint64(len(v))), v...) }
	number := func(v int64) { b = binary.AppendVarint(b, v) }
	flag := func(v bool) {
		if v {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	list := func(v []string) {
		number(int64(len(v)))
		for _, e := range v {
			text(e)
		}
	}
	slot := func(v *Slot) {
		text(string(v.Kind))
		text(v.ID)
		text(v.Attribute)
		text(v.Surface)
		text(string(v.Action))
		list(v.Scope)
		text(string(v.Provisional))
		number(v.Deadline)
		number(v.Life)
		text(string(v.Phase))
	}
	asks := func(v []Ask) {
		number(int64(len(v)))
		for i := range v {
			text(v[i].ID)
			list(v[i].Claims)
			number(v[i].Deadline)
			flag(v[i].Held)
		}
	}
	text(s.ID)
	text(string(s.Role))
	text(string(s.Phase))
	text(s.Self)
	text(s.Peer)
	text(s.OpenID)
	text(s.Profile)
	text(string(s.Depth))
	number(int64(len(s.Features)))
	for _, f := range s.Features {
		text(string(f))
	}
	number(s.EndsAt)
	number(int64(s.Issued))
	list(s.PeerIDs)
	slot(&s.Sent)
	slot(&s.Recv)
	asks(s.AsksOut)
	asks(s.AsksIn)
	number(int64(len(s.Props)))
	for i := range s.Props {
		p := &s.Props[i]
		text(string(p.Side))
		text(p.ID)
		text(p.Key)
		text(p.Digest)
		text(string(p.Result))
		flag(p.Expired)
		flag(p.Withdrawn)
		flag(p.Evaluated)
		list(p.Supersedes)
	}
	number(int64(len(s.Grants)))
	for i := range s.Grants {
		g := &s.Grants[i]
		text(string(g.By))
		text(string(g.Action))
		list(g.Scope)
		text(string(g.Phase))
		flag(g.Principal)
	}
	text(string(s.Vote))
	list(s.Requires)
	list(s.Stated)
	list(s.Contingent)
	list(s.Disclosed)
	list(s.Shown)
	flag(s.Vetoed)
	flag(s.Renews)
	number(int64(s.Refreshes))
	number(s.Refreshed)
	flag(s.Emitted)
	text(string(s.Reason))
	return b
}

// Whatever differs in two states differs in their keys, for every member that a state has or will have.
func TestKeyTellsStatesApart(t *testing.T) {
	var s State
	s.Features, s.AsksOut, s.AsksIn, s.Props, s.Grants = make([]wire.Feature, 1), make([]Ask, 1), make([]Ask, 1), make([]Proposition, 1), make([]Grant, 1)
	var leaves int
	var walk func(v reflect.Value, name string)
	walk = func(v reflect.Value, name string) {
		before := string(appendState(nil, &s))
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), name+"[]")
			}
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		case reflect.Struct:
			for field, value := range v.Fields() {
				walk(value, name+"."+field.Name)
			}
			return
		default:
			t.Fatalf("%s: a member of kind %v", name, v.Kind())
		}
		leaves++
		if string(appendState(nil, &s)) == before {
			t.Errorf("%s is not in the key", name)
		}
		v.Set(old)
	}
	walk(reflect.ValueOf(&s).Elem(), "State")
	if leaves < 60 {
		t.Errorf("only %d members were looked at", leaves)
	}
}
