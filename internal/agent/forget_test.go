package agent

import (
	"testing"
	"time"

	"sayso/internal/agent/durable"
)

// forgetAll is what a server does once an hour.
func (o *office) forgetAll() { o.forget(o.t.Context(), o.clock.now()) }

func (o *office) searches(id string) (n int) {
	o.t.Helper()
	if err := o.store.View(o.t.Context(), func(r durable.Reader) error {
		rows, err := r.Explorations(o.t.Context(), id)
		n = len(rows)
		return err
	}); err != nil {
		o.t.Fatal(err)
	}
	return n
}

// A projection is forgotten long after the life it stated, and not while it stands or a resumption would renew it.
func TestProjectionsAreForgotten(t *testing.T) {
	o := newOffice(t)
	doc := officeInterest()
	doc.ExpiresAt = officeNoon.AddDate(3, 0, 0)
	id := o.add(doc)
	if _, err := o.Activate(t.Context(), id, officeProvider); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Suspend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	o.clock.move(longestLife + keepEnded + time.Hour)
	o.forgetAll()
	if got := o.projections(id); len(got) != 1 {
		t.Fatalf("%d projections of an interest that may be resumed", len(got))
	}
	if _, err := o.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	o.forgetAll()
	if got := o.projections(id); len(got) != 2 || len(o.provider.standing()) != 1 {
		t.Fatalf("%d projections, %d standing", len(got), len(o.provider.standing()))
	}
	o.clock.move(keepEnded) // the old one ended when its place was taken
	o.forgetAll()
	if got := o.projections(id); len(got) != 1 || got[0].State != durable.Published || !got[0].ForgetAt.IsZero() {
		t.Fatalf("%+v", got)
	}
	if _, err := o.Suspend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Revoke(t.Context(), id); err != nil { // nothing is resumed any more
		t.Fatal(err)
	}
	end := later(o.projections(id)[0].ExpiresAt, o.clock.now()).Add(keepEnded)
	o.clock.move(end.Sub(o.clock.now()) - time.Second)
	o.forgetAll()
	if len(o.projections(id)) != 1 {
		t.Error("forgotten too early")
	}
	o.clock.move(time.Second)
	o.forgetAll()
	if got := o.projections(id); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A search is forgotten after the sessions that it can have opened, and not while it goes on.
func TestSearchesAreForgotten(t *testing.T) {
	o := newOffice(t)
	doc := officeInterest()
	doc.ExpiresAt = officeNoon.AddDate(3, 0, 0)
	id := o.add(doc)
	if _, err := o.Activate(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	o.provider.offer(2)
	v, err := o.Explore(t.Context(), id, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	o.clock.move(2 * keepEnded)
	o.forgetAll()
	if o.searches(id) != 1 {
		t.Fatal("a search that nobody has begun is forgotten")
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if got := o.exploration(v.ID); got.State != "probing" || len(got.Sessions) != 2 {
		t.Fatalf("%+v", got)
	}
	// Begun late, its sessions are open, and another search leaves those alone.
	if _, err := o.Explore(t.Context(), id, officeProvider); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if n := len(o.opened(id)); n != 2 {
		t.Errorf("%d sessions", n)
	}
	o.clock.move(keepEnded - time.Second)
	o.forgetAll()
	if o.searches(id) != 2 {
		t.Error("forgotten too early")
	}
	o.clock.move(time.Second)
	o.forgetAll()
	if o.searches(id) != 0 {
		t.Error("kept for ever")
	}
}
