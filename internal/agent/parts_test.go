package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
)

// However steps of several processes, undone ones and new versions come one after the other, a session of many parts is what its row and its parts say.
func TestPartsOfASessionThatManyWrite(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		s := w.stranger("s-parts")
		s.same(s.open())
		agents := []*Agent{w.seller.agent, w.seller.colder(), w.seller.colder()}
		undone := errors.New("undone")
		for range 40 {
			switch w.seller.agent = agents[r.IntN(len(agents))]; r.IntN(5) {
			case 0:
				w.seller.agent = w.seller.colder()
			case 1:
				if _, err := agents[r.IntN(len(agents))].inSession(t.Context(), s.task, func(u *turn) error { u.dirty = true; return nil }); err != nil {
					t.Fatal(err)
				}
			case 2:
				_, err := w.seller.agent.inSession(t.Context(), s.task, func(u *turn) error {
					u.dirty, u.body.Mandate = true, ""
					return errors.Join(u.save(t.Context()), undone)
				})
				if !errors.Is(err, undone) {
					t.Fatal(err)
				}
			case 3:
				w.seller.continued(sellerDocument(t))
			}
			claim := w.sites(fmt.Sprintf(`{"min":%d}`, r.IntN(18)))
			if s.asked > 3 && r.IntN(2) == 0 { // a claim that lies in a part is replaced
				claim.Supersedes = []string{fmt.Sprintf("c-%d.0", 1+r.IntN(s.asked))}
			}
			task, err := s.ask(claim)
			switch {
			case code(err) == gidpa2a.Invalid: // it was replaced before
				s.asked--
			case err != nil:
				t.Fatal(err)
			default:
				s.same(task)
			}
		}
		err := w.seller.agent.Store.View(t.Context(), func(reader durable.Reader) error {
			list, err := reader.Parts(t.Context(), s.task)
			if len(list) < 2 {
				t.Errorf("%d parts of %d claims", len(list), s.asked)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.checkTrail()
	}
}

// Parts of another moment than the row do not pass for its own, and a session that does not open keeps no interest from ending.
func TestADamagedSessionDoesNotKeepAnInterest(t *testing.T) {
	for name, damage := range map[string]func(w *world, tx durable.Writer, row durable.SessionRow) error{
		"a part of another moment": func(w *world, tx durable.Writer, row durable.SessionRow) error {
			body, err := w.seller.agent.Vault.Seal(partPlace(row.ID, 0), []byte(`{}`))
			if err != nil {
				return err
			}
			return tx.PutPart(t.Context(), durable.PartRow{Session: row.ID, Part: 0, Body: body})
		},
		"a part too many": func(w *world, tx durable.Writer, row durable.SessionRow) error {
			body, err := w.seller.agent.Vault.Seal(partPlace(row.ID, 1), []byte(`[]`))
			if err != nil {
				return err
			}
			return tx.PutPart(t.Context(), durable.PartRow{Session: row.ID, Part: 1, Body: body})
		},
		"a damaged part": func(w *world, tx durable.Writer, row durable.SessionRow) error {
			return tx.PutPart(t.Context(), durable.PartRow{Session: row.ID, Part: 0, Body: []byte("damaged")})
		},
		"a damaged row": func(w *world, tx durable.Writer, row durable.SessionRow) error {
			row.Body = []byte("damaged")
			return tx.PutSession(t.Context(), row)
		},
	} {
		w, id := qualified(t)
		if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: "plans"}); err != nil {
			t.Fatal(err)
		}
		w.pump(4)
		if len(w.seller.inbox()) != 1 {
			t.Fatalf("%+v", w.seller.inbox())
		}
		task := w.seller.one().ID
		row := func() (row durable.SessionRow, waiting int) {
			t.Helper()
			err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) (err error) {
				list, err := r.Entries(t.Context(), task, true)
				waiting = len(list)
				if err == nil {
					row, err = r.Session(t.Context(), task)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return row, waiting
		}
		was, _ := row()
		if err := w.seller.agent.Store.Update(t.Context(), func(tx durable.Writer) error { return damage(w, tx, was) }); err != nil {
			t.Fatal(err)
		}
		w.seller.restart()
		data, err := wire.Encode(&wire.SessionClose{Head: wire.Head{SessionID: "s", ExpiresAt: w.clock.read().Add(time.Hour).Truncate(time.Second)}, Reason: wire.ReasonUnspecified})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.seller.agent.Receive(t.Context(), gidpa2a.Message{Ref: was.Ref, Caller: was.Peer, Task: task, Object: data})
		if code(err) != gidpa2a.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		list, err := w.seller.agent.Sessions(t.Context(), w.seller.interest)
		if err != nil || len(list) != 1 || list[0].ID != task || list[0].State != stateUnreadable {
			t.Errorf("%s: %+v %v", name, list, err)
		}
		if leads, err := w.seller.agent.Leads(t.Context()); err != nil || len(leads) != 0 {
			t.Errorf("%s: %+v %v", name, leads, err)
		}
		_, err = w.seller.agent.Continue(t.Context(), w.seller.interest, sellerDocument(t))
		wantKind(t, err, app.KindUnavailable, "not_readable")
		v, err := w.seller.agent.Revoke(t.Context(), w.seller.interest)
		if err != nil || v.State != "REVOKED" {
			t.Fatalf("%s: %+v %v", name, v, err)
		}
		if got, waiting := row(); !got.Closed || got.Phase != string(session.Closed) || got.ForgetAt.IsZero() || waiting != 0 {
			t.Errorf("%s: %s, forgotten at %v, %d wait", name, got.Phase, got.ForgetAt, waiting)
		}
	}
}

// What is written by hand is what the tags say, whichever of the members is there.
func TestBodiesAreWrittenAsTheirTagsSay(t *testing.T) {
	full := sessionBody{Sent: 3, Active: 1 << 41, Objects: 4, Bytes: 1000, Network: "q\"<\u2028", Parts: []string{"first", "second", "third"}}
	check := func(b sessionBody) {
		t.Helper()
		want, err := jcs.Encode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.append([]byte("{")); err != nil || string(got)+"}" != string(want) {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
	check(full)
	check(sessionBody{})
	for i := range reflect.TypeFor[sessionBody]().NumField() {
		some := full
		f := reflect.ValueOf(&some).Elem().Field(i)
		if !f.CanSet() { // standing, which has a part of its own
			continue
		}
		f.SetZero()
		check(some)
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		}
		if some.Held == nil && some.Stated == nil { // their members are raw, and not there
			check(some)
		}
	}
	if _, err := (&sessionBody{Network: "\xff"}).append(nil); err == nil {
		t.Error("what is no UTF-8 is written")
	}
	for _, b := range []sentBody{{}, {Object: jcs.Raw(`{"a":1}`)}, {Object: jcs.Raw(`{}`), Expires: -5}, {Expires: 1 << 40, Open: true}, {Signature: "s"}, {Evidence: jcs.Raw(`{}`), Hint: jcs.Raw(`1`), Key: jcs.Raw(`2`)}} {
		want, err := jcs.Encode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.text(); err != nil || string(got) != string(want) {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
}
