package agent

import (
	"context"
	"slices"
	"testing"

	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
)

// Two principals of one folder: each list shows whose everything is, and narrowed to one it shows nothing of the other's.
func TestEachPrincipalSeesItsOwn(t *testing.T) {
	ctx := context.Background()
	w, id := qualified(t, buyerSeller{seller: func(i *interest.Interest) { i.PrincipalRef = "board" }})
	if _, err := w.buyer.agent.Request(ctx, id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	a := w.seller.agent
	other := buyerDocument(t)
	other.PrincipalRef = "family office"
	added, err := a.Add(ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Activate(ctx, added.ID, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Principals(ctx); err != nil || !slices.Equal(got, []string{"board", "family office"}) {
		t.Errorf("%q %v", got, err)
	}
	count := func(of ...string) (out [5]int) {
		t.Helper()
		see := func(n *int, ref string) {
			if *n++; len(of) == 1 && ref != of[0] {
				t.Errorf("%s sees something of %q", of[0], ref)
			}
		}
		interests, err := a.Interests(ctx, of...)
		for _, v := range interests {
			see(&out[0], v.Principal)
		}
		entries, also := a.Inbox(ctx, true, of...)
		for _, v := range entries {
			see(&out[1], v.Principal)
		}
		list, third := a.Sessions(ctx, "", of...)
		for _, v := range list {
			see(&out[2], v.Principal)
		}
		leads, fourth := a.Leads(ctx, of...)
		for _, v := range leads {
			see(&out[3], v.Principal)
		}
		trail, fifth := a.Audit(ctx, "", of...)
		for _, v := range trail {
			if see(&out[4], v.Principal); len(of) == 1 && (v.Lineage == added.Lineage) != (of[0] == "family office") {
				t.Errorf("%s sees the trail of another", of[0])
			}
		}
		for _, err := range []error{err, also, third, fourth, fifth} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	all, board, office := count(), count("board"), count("family office")
	if board != [5]int{1, 1, 1, 1, board[4]} || office[0] != 1 || office[1]+office[2]+office[3] != 0 || office[4] == 0 {
		t.Errorf("%v, %v", board, office)
	}
	for i := range all {
		if all[i] != board[i]+office[i] || count("board", "family office") != all {
			t.Errorf("all %v, each %v and %v", all, board, office)
		}
	}
	for name, read := range map[string]func(...string) error{
		"interests": func(of ...string) error { _, err := a.Interests(ctx, of...); return err },
		"inbox":     func(of ...string) error { _, err := a.Inbox(ctx, false, of...); return err },
		"sessions":  func(of ...string) error { _, err := a.Sessions(ctx, "", of...); return err },
		"leads":     func(of ...string) error { _, err := a.Leads(ctx, of...); return err },
		"audit":     func(of ...string) error { _, err := a.Audit(ctx, "", of...); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for _, of := range [][]string{{"nobody"}, {""}, {"Board"}, {"board", "nobody"}} {
				wantKind(t, read(of...), app.KindNotFound, "unknown_principal")
			}
		})
	}
	// An interest of another principal has no sessions and no trail of this one.
	if list, err := a.Sessions(ctx, w.seller.interest, "family office"); err != nil || len(list) != 0 {
		t.Errorf("%d sessions %v", len(list), err)
	}
	if list, err := a.Audit(ctx, w.seller.interest, "family office"); err != nil || len(list) != 0 {
		t.Errorf("%d entries %v", len(list), err)
	}
}

// An interest whose form named nobody may get a name in a new version. What happened before is the same principal's.
func TestALineageIsThatOfItsNewestVersion(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	doc.PrincipalRef = ""
	id := o.add(doc)
	v, err := o.Supersede(ctx, id, officeInterest())
	if err != nil || v.Principal != "board" {
		t.Fatalf("%+v %v", v, err)
	}
	named, err := o.Audit(ctx, "", "board")
	if err != nil || len(named) < 3 {
		t.Errorf("%d entries %v", len(named), err)
	}
	if unnamed, err := o.Audit(ctx, "", ""); err != nil || len(unnamed) != 0 {
		t.Errorf("%d entries %v", len(unnamed), err)
	}
}

// What is left of an entry whose session was forgotten says whose it is.
func TestForgottenSessionsHaveAPrincipal(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	entry := w.seller.inbox()[0].ID
	lost := &withoutSessions{Store: w.seller.options.Store}
	w.seller.options.Store = lost
	w.seller.restart()
	if v, err := w.seller.agent.Entry(t.Context(), entry); err != nil || v.Principal != "somebody" || v.Peer.ID != "" {
		t.Errorf("%+v %v", v, err)
	}
}

// withoutSessions is a store that has forgotten every session.
type withoutSessions struct{ durable.Store }

func (s *withoutSessions) View(ctx context.Context, f func(durable.Reader) error) error {
	return s.Store.View(ctx, func(r durable.Reader) error { return f(noSessions{r}) })
}

type noSessions struct{ durable.Reader }

func (noSessions) Session(context.Context, string) (durable.SessionRow, error) {
	return durable.SessionRow{}, durable.ErrNotFound
}
