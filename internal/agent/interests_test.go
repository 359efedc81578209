package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
)

func TestLifeOfAnInterest(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.add(officeInterest())
	v := o.detail(id)
	if v.State != "DRAFT" || v.Version != 1 || v.Lineage == "" || v.ID == v.Lineage || len(v.Projections) != 0 || len(v.Budgets) != 1 || !strings.Contains(string(v.Document), "canary-person-88c2") {
		t.Errorf("%+v", v)
	}
	_, err := o.Suspend(ctx, id)
	wantKind(t, err, app.KindRefused, "wrong_state")

	act, err := o.Activate(ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	if act.Interest.State != "ACTIVE" || len(act.Projections) != 1 || act.Projections[0].State != "prepared" ||
		act.Projections[0].Endpoint != "https://agents.example/a2a/"+act.Projections[0].Ref || len(act.Projections[0].Ref) != 32 {
		t.Errorf("%+v", act)
	}
	if !slices.Contains(act.Warnings, aloneWarning) {
		t.Errorf("no warning that the origin serves one principal: %q", act.Warnings)
	}
	again, err := o.Activate(ctx, id, "")
	if err != nil || len(again.Projections) != 1 || again.Projections[0].Ref != act.Projections[0].Ref {
		t.Errorf("activating twice made another projection: %+v %v", again.Projections, err)
	}

	if v, err := o.Suspend(ctx, id); err != nil || v.State != "SUSPENDED" {
		t.Fatalf("%+v %v", v, err)
	}
	if rows := o.projections(id); !sameStates(rows, map[durable.ProjectionState]int{durable.Withdrawn: 1}) || live(rows[0], officeNoon) {
		t.Errorf("%+v", tally(rows))
	}
	_, err = o.Activate(ctx, id, "")
	wantKind(t, err, app.KindRefused, "suspended")
	if v, err := o.Resume(ctx, id); err != nil || v.State != "ACTIVE" {
		t.Fatalf("%+v %v", v, err)
	}
	rows := o.projections(id)
	if !sameStates(rows, map[durable.ProjectionState]int{durable.Withdrawn: 1, durable.Prepared: 1}) {
		t.Errorf("%+v", tally(rows))
	}
	if v, err := o.Revoke(ctx, id); err != nil || v.State != "REVOKED" {
		t.Fatalf("%+v %v", v, err)
	}
	for name, act := range map[string]func(context.Context, string) (InterestView, error){"suspend": o.Suspend, "resume": o.Resume, "revoke": o.Revoke} {
		if _, err := act(ctx, id); err == nil {
			t.Errorf("%s of a revoked interest", name)
		}
	}
	_, err = o.Supersede(ctx, id, officeInterest())
	wantKind(t, err, app.KindRefused, "wrong_state")
	if got := o.trail(id); !slices.Contains(got, "revocation") || got[0] != "interest_version" {
		t.Errorf("%v", got)
	}
	noSecrets(t, o.clearText())
	if list, err := o.Interests(ctx); err != nil || len(list) != 1 || list[0].State != "REVOKED" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestUnknownInterests(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	for name, act := range map[string]func() error{
		"show":      func() error { _, err := o.Interest(ctx, "i-none"); return err },
		"activate":  func() error { _, err := o.Activate(ctx, "i-none", ""); return err },
		"confirm":   func() error { _, err := o.Confirm(ctx, "i-none"); return err },
		"revoke":    func() error { _, err := o.Revoke(ctx, "i-none"); return err },
		"supersede": func() error { _, err := o.Supersede(ctx, "i-none", officeInterest()); return err },
		"explore":   func() error { _, err := o.Explore(ctx, "i-none", "https://p.example"); return err },
		"budget":    func() error { _, err := o.Budget(ctx, "i-none", "depth", -1, false); return err },
	} {
		t.Run(name, func(t *testing.T) { wantKind(t, act(), app.KindNotFound, "unknown_interest") })
	}
	_, err := o.Exploration(ctx, "x-none")
	wantKind(t, err, app.KindNotFound, "unknown_exploration")
	if err := o.tendInterest(ctx, "i-none"); err != nil {
		t.Error(err)
	}
}

func TestAddRefusesWhatCheckFails(t *testing.T) {
	o := newOffice(t)
	for name, edit := range map[string]func(*interest.Interest){
		"no end":          func(i *interest.Interest) { i.ExpiresAt = time.Time{} },
		"value":           func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = jcs.Raw(`-23456789`) },
		"unwritten level": func(i *interest.Interest) { delete(i.Authority, gidp.Probe) },
		"commit":          func(i *interest.Interest) { i.Authority[gidp.Commit] = gidp.Yes },
	} {
		doc := officeInterest()
		edit(doc)
		_, err := o.Add(context.Background(), doc)
		if err == nil {
			t.Errorf("%s was added", name)
			continue
		}
		wantKind(t, err, app.KindInvalid, "interest_invalid")
	}
	doc := officeInterest()
	doc.Profile = "other"
	_, err := o.Add(context.Background(), doc)
	wantKind(t, err, app.KindInvalid, "unknown_profile")
}

// K11a: an inferred interest does nothing before its Principal confirmed it.
func TestInferredInterestsAreConfirmed(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	doc.Origin, doc.Confirmed = interest.Inferred, true // a file cannot confirm itself
	id := o.add(doc)
	_, err := o.Activate(ctx, id, "")
	wantKind(t, err, app.KindRefused, "unconfirmed")
	v, err := o.Confirm(ctx, id)
	if err != nil || !v.Confirmed || v.State != "DRAFT" {
		t.Fatalf("%+v %v", v, err)
	}
	if _, err := o.Confirm(ctx, id); err != nil {
		t.Errorf("twice: %v", err)
	}
	if _, err := o.Activate(ctx, id, ""); err != nil {
		t.Error(err)
	}
	if n := len(slices.DeleteFunc(o.trail(id), func(kind string) bool { return kind != "confirmation" })); n != 1 {
		t.Errorf("%d confirmations in the trail", n)
	}
}

func TestValidity(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	doc.NotBefore = officeNoon.Add(time.Hour)
	id := o.add(doc)
	_, err := o.Activate(ctx, id, "")
	wantKind(t, err, app.KindRefused, "not_valid_now")
	o.clock.move(2 * time.Hour)
	if _, err := o.Activate(ctx, id, ""); err != nil {
		t.Fatal(err)
	}
	h, _ := o.holdingOf(id)
	draft := o.add(officeInterest())
	o.clock.move(h.Expires().Sub(o.clock.now()) - time.Second)
	session := o.openOne(h.ID())
	if err := o.work(durable.WorkInterest); err != nil || o.detail(id).State != "ACTIVE" {
		t.Fatalf("before the end: %v", err)
	}
	o.clock.move(time.Second)
	o.restart(nil)
	if err := o.work(durable.WorkInterest); err != nil {
		t.Fatal(err)
	}
	if got := o.detail(id).State; got != "EXPIRED" || o.detail(draft).State != "EXPIRED" {
		t.Errorf("%s at the end of the validity", got)
	}
	if !o.session(session).Closed {
		t.Error("a session goes on without its interest")
	}
	for _, row := range o.projections(id) {
		if live(row, o.clock.now()) {
			t.Errorf("%s is answered", row.State)
		}
	}
	if err := o.work(durable.WorkInterest); err != nil {
		t.Error(err)
	}
}

// I15: whatever makes an interest leave ACTIVE, its references are dead and its sessions closed in the same commit.
func TestLeavingActive(t *testing.T) {
	ctx := context.Background()
	for name, leave := range map[string]func(o *office, id string) error{
		"suspend":   func(o *office, id string) error { _, err := o.Suspend(ctx, id); return err },
		"revoke":    func(o *office, id string) error { _, err := o.Revoke(ctx, id); return err },
		"supersede": func(o *office, id string) error { _, err := o.Supersede(ctx, id, officeInterest()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			id := o.active("https://p.example")
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			session := o.openOne(id)
			commits := &commits{Store: o.store}
			o.restart(func(options *Options) { options.Store = commits })
			if err := leave(o, id); err != nil {
				t.Fatal(err)
			}
			if commits.n != 1 {
				t.Errorf("%d commits", commits.n)
			}
			for _, row := range o.projections(id) {
				if live(row, o.clock.now()) {
					t.Error("a reference is still answered")
				}
			}
			if !o.session(session).Closed {
				t.Error("a session is still open")
			}
			trail := o.trail(id)
			withdrawn, closed := slices.Index(trail, "projection_withdrawn"), slices.IndexFunc(trail, func(kind string) bool { return strings.Contains(kind, "session_closed") })
			if withdrawn < 0 || closed >= 0 && closed < withdrawn {
				t.Errorf("the order of duties: %v", trail)
			}
			o.restart(nil)
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			want := 0
			if name == "supersede" {
				want = 1
			}
			if got := len(o.provider.standing()); got != want {
				t.Errorf("%d projections stand at the provider, want %d", got, want)
			}
		})
	}
}

func TestSupersede(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active("https://p.example")
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	before := o.projections(id)[0]
	next := officeInterest()
	next.Attributes["geography"] = jcs.Raw(`"france"`)
	v, err := o.Supersede(ctx, id, next)
	if err != nil {
		t.Fatal(err)
	}
	old := o.detail(id)
	if v.ID == id || v.Lineage != old.Lineage || v.Version != 2 || v.State != "ACTIVE" || old.State != "SUPERSEDED" {
		t.Errorf("%+v", v)
	}
	rows := o.projections(v.ID)
	if len(rows) != 1 || rows[0].State != durable.Publishing || rows[0].Ref == before.Ref {
		t.Fatalf("%+v", tally(rows))
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	standing := o.provider.standing()
	if len(standing) != 1 || !slices.Equal(standing[0].pub.Projection.Geographies, []string{"france"}) {
		t.Errorf("%+v", standing)
	}
	bad := officeInterest()
	bad.ExpiresAt = time.Time{}
	if _, err := o.Supersede(ctx, v.ID, bad); err == nil || o.detail(v.ID).State != "ACTIVE" {
		t.Errorf("a version that fails its check superseded one that does not: %v", err)
	}
	draft, err := o.Supersede(ctx, o.add(officeInterest()), officeInterest())
	if err != nil || draft.State != "DRAFT" || len(o.projections(draft.ID)) != 0 {
		t.Errorf("of a draft: %+v %v", draft, err)
	}
}

// A version of which nothing may appear replaces one that was published; it has no projection then.
func TestSupersedeByWhatMayNotAppear(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	doc := officeInterest()
	doc.Policy.Derivatives, doc.Policy.Entries = nil, map[string]gidp.Entry{gidp.PrincipalIdentity: officeClass(gidp.InSession, 0)}
	v, err := o.Supersede(context.Background(), id, doc)
	if err != nil || v.State != "ACTIVE" || len(o.projections(v.ID)) != 0 {
		t.Errorf("%+v %v", v, err)
	}
}

func TestActivateWithoutOrigin(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	o.restart(func(options *Options) { options.Origin = "" })
	id := o.add(officeInterest())
	v, err := o.Activate(ctx, id, "")
	if err != nil || v.Interest.State != "ACTIVE" || len(v.Projections) != 0 || len(v.Warnings) == 0 {
		t.Errorf("%+v %v", v, err)
	}
	_, err = o.Activate(ctx, id, "https://p.example")
	wantKind(t, err, app.KindRefused, "no_origin")
}

func TestActivateWhatMayNotAppear(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	doc.Policy.Entries = map[string]gidp.Entry{gidp.PrincipalIdentity: officeClass(gidp.InSession, 0)}
	doc.Policy.Derivatives = nil
	id := o.add(doc)
	_, err := o.Activate(ctx, id, "https://p.example")
	wantKind(t, err, app.KindRefused, "nothing_public")
	if o.detail(id).State != "DRAFT" {
		t.Error("a refused activation changed the state")
	}
	v, err := o.Activate(ctx, id, "") // its reference can be given to somebody
	if err != nil || len(v.Projections) != 1 || !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "no projection") }) {
		t.Errorf("%+v %v", v, err)
	}
	doc = officeInterest()
	doc.Authority[gidp.PublishProjection] = gidp.No
	_, err = o.Activate(ctx, o.add(doc), "https://p.example")
	wantKind(t, err, app.KindRefused, "not_permitted")
}

func TestTwoPrincipalsAtOneOrigin(t *testing.T) {
	o := newOffice(t)
	o.active("")
	doc := officeInterest()
	doc.PrincipalRef = "another"
	v, err := o.Activate(context.Background(), o.add(doc), "")
	if err != nil || slices.Contains(v.Warnings, aloneWarning) {
		t.Errorf("%q %v", v.Warnings, err)
	}
	var rows []durable.InterestRow
	if err := o.store.View(context.Background(), func(r durable.Reader) (err error) { rows, err = r.Interests(context.Background()); return err }); err != nil {
		t.Fatal(err)
	}
	if rows[0].Principal == rows[1].Principal || strings.Contains(rows[0].Principal+rows[1].Principal, "another") {
		t.Errorf("%q %q", rows[0].Principal, rows[1].Principal)
	}
}

func TestAnotherFolderReadsNothing(t *testing.T) {
	o, other := newOffice(t), newOffice(t)
	id := o.active("")
	o.restart(func(options *Options) { options.Vault = other.vault })
	_, err := o.Interest(context.Background(), id)
	wantKind(t, err, app.KindUnavailable, "not_readable")
	_, err = o.Revoke(context.Background(), id)
	wantKind(t, err, app.KindUnavailable, "not_readable")
}

// commits counts the transactions that write.
type commits struct {
	durable.Store
	n int
}

func (c *commits) Update(ctx context.Context, f func(durable.Writer) error) error {
	c.n++
	return c.Store.Update(ctx, f)
}
