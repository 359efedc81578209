package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
)

func (o *office) exploration(id string) ExplorationView {
	o.t.Helper()
	v, err := o.Exploration(context.Background(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// opened counts the sessions of an interest as initiator.
func (o *office) opened(id string) []durable.SessionRow {
	o.t.Helper()
	var rows []durable.SessionRow
	err := o.store.View(context.Background(), func(r durable.Reader) (err error) {
		rows, err = r.Sessions(context.Background(), id, false, "", 1000)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return rows
}

func TestExploreTakesTenOthersOnce(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active(officeProvider)
	sibling := officeInterest()
	sibling.PrincipalRef = "another"
	if _, err := o.Activate(ctx, o.add(sibling), officeProvider); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	o.provider.offer(15)
	o.provider.pageSize = 5
	// The two own projections come first, and a stranger comes twice.
	o.provider.candidates = slices.Concat([]providerhttp.Candidate{{Ref: "cand-1", ProjectionRef: "pref-1"}, {Ref: "cand-2", ProjectionRef: "pref-2"}, {Ref: "cand-100", ProjectionRef: "pref-100"}},
		o.provider.candidates)
	v, err := o.Explore(ctx, id, officeProvider)
	if err != nil || v.State != "searching" {
		t.Fatalf("%+v %v", v, err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	got := o.exploration(v.ID)
	if got.State != "probing" || len(got.Sessions) != maxCandidates || len(o.opened(id)) != maxCandidates {
		t.Errorf("%s with %d sessions", got.State, len(got.Sessions))
	}
	for _, call := range o.provider.made() {
		if call == "resolve cand-1" || call == "resolve cand-2" {
			t.Error("an own projection was resolved")
		}
	}
	resolved := slices.DeleteFunc(o.provider.made(), func(call string) bool { return call != "resolve cand-100" })
	if len(resolved) != 1 {
		t.Errorf("a candidate was resolved %d times", len(resolved))
	}
	q := o.provider.queries[0].Projection
	if !slices.Equal(q.Geographies, []string{"germany"}) || !slices.Equal(q.Domains, []string{"software"}) {
		t.Errorf("the query %+v", q)
	}
	for _, standing := range o.provider.standing() {
		if q.Endpoint == standing.pub.Projection.Endpoint || q.ProjectionID == standing.pub.Projection.ProjectionID {
			t.Error("the query names a projection")
		}
	}
	noSecrets(t, o.clearText())

	// A second search leaves those alone that a session is still open to.
	again, err := o.Explore(ctx, id, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if got := o.exploration(again.ID); len(got.Sessions) != 5 || len(o.opened(id)) != 15 {
		t.Errorf("%d new sessions, %d in all", len(got.Sessions), len(o.opened(id)))
	}
	if _, err := o.Revoke(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got := o.exploration(v.ID); got.State != "done" {
		t.Errorf("%s after all sessions closed", got.State)
	}
}

func TestExploreWithNobodyThere(t *testing.T) {
	o := newOffice(t)
	id := o.active("")
	v, err := o.Explore(context.Background(), id, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if got := o.exploration(v.ID); got.State != "done" || len(got.Sessions) != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever write fails, no candidate is approached twice and the search comes to its end.
func TestExploreSurvivesFailingWrites(t *testing.T) {
	for fail := 1; fail <= 9; fail++ {
		o := newOffice(t)
		id := o.active("")
		o.provider.offer(5)
		v, err := o.Explore(context.Background(), id, officeProvider)
		if err != nil {
			t.Fatal(err)
		}
		broken := &breaking{Store: o.store, at: fail}
		for range 6 {
			o.restart(func(options *Options) { options.Store = broken })
			if err := o.work(durable.WorkExploration); err != nil && !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			o.clock.move(lease + time.Second)
		}
		if got := o.exploration(v.ID); got.State == "searching" || got.State == "failed" || len(o.opened(id)) != 5 {
			t.Errorf("write %d failed: %s, %d sessions", fail, got.State, len(o.opened(id)))
		}
	}
}

func TestExploreFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail    []error
		state   string
		problem string
		opened  int
	}{
		"comes back":       {[]error{errDown, errDown}, "probing", "", 3},
		"refuses":          {[]error{errRefused}, "failed", string(provider.CodeRefused), 0},
		"no provider":      {[]error{providerhttp.ErrAnswer}, "failed", "no_provider_there", 0},
		"stays away":       {slices.Repeat([]error{errDown}, maxTries), "failed", "not_reachable", 0},
		"resolve fails":    {[]error{nil, nil, errDown}, "probing", "", 3},
		"one is withdrawn": {[]error{nil, &providerhttp.Refusal{Status: 404, Code: provider.CodeUnknown}}, "probing", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			id := o.active("")
			o.provider.offer(3)
			v, err := o.Explore(context.Background(), id, officeProvider)
			if err != nil {
				t.Fatal(err)
			}
			o.provider.failing(false, c.fail...)
			for range maxTries + 2 {
				o.restart(nil)
				if err := o.work(durable.WorkExploration); err != nil {
					t.Fatal(err)
				}
				o.clock.move(maxBackoff)
			}
			if got := o.exploration(v.ID); got.State != c.state || got.Problem != c.problem || len(got.Sessions) != c.opened {
				t.Errorf("%s %q, %d sessions", got.State, got.Problem, len(got.Sessions))
			}
		})
	}
}

func TestExploreIsPermitted(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	_, err := o.Explore(ctx, o.add(officeInterest()), officeProvider)
	wantKind(t, err, app.KindRefused, "not_active")
	id := o.active("")
	_, err = o.Explore(ctx, id, "")
	wantKind(t, err, app.KindInvalid, "provider")
	for name, edit := range map[string]func(*interest.Interest){
		"not_permitted search": func(i *interest.Interest) { i.Authority[gidp.Search] = gidp.No },
		"not_permitted probe":  func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.No },
		"nothing_public": func(i *interest.Interest) {
			i.Policy.Derivatives, i.Policy.Entries = nil, map[string]gidp.Entry{gidp.PrincipalIdentity: officeClass(gidp.InSession, 0)}
		},
	} {
		doc := officeInterest()
		edit(doc)
		other := o.add(doc)
		if _, err := o.Activate(ctx, other, ""); err != nil {
			t.Fatal(err)
		}
		_, err := o.Explore(ctx, other, officeProvider)
		code, _, _ := strings.Cut(name, " ")
		wantKind(t, err, app.KindRefused, code)
	}
	doc := officeInterest()
	doc.Authority[gidp.PublishProjection] = gidp.No // to search is not to publish
	hidden := o.add(doc)
	if _, err := o.Activate(ctx, hidden, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Explore(ctx, hidden, officeProvider); err != nil {
		t.Error(err)
	}
	v, err := o.Explore(ctx, id, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	o.provider.offer(2)
	if _, err := o.Suspend(ctx, id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if got := o.exploration(v.ID); got.State != "failed" || got.Problem != "interest_not_active" || len(o.opened(id)) != 0 {
		t.Errorf("a search of a suspended interest: %+v", got)
	}
}

func TestSettled(t *testing.T) {
	asked := func(results ...wire.Result) (out []QuestionView) {
		for n, r := range results {
			out = append(out, QuestionView{From: "ours", Key: fmt.Sprint(n), Result: string(r)})
		}
		return append(out, QuestionView{From: "theirs"})
	}
	for name, c := range map[string]struct {
		v    SessionView
		want bool
	}{
		"opened":             {SessionView{State: "REQUESTED"}, false},
		"nothing asked":      {SessionView{State: "PROBING", Questions: asked()}, false},
		"not answered":       {SessionView{State: "PROBING", Questions: asked(wire.Compatible, "")}, false},
		"answered":           {SessionView{State: "PROBING", Questions: asked(wire.Compatible, wire.Declined)}, true},
		"waits for a person": {SessionView{State: "PROBING", Entries: []string{"e"}}, true},
		"qualified":          {SessionView{State: "QUALIFIED"}, true},
		"asks a value":       {SessionView{State: "DISCLOSURE_PENDING"}, true},
		"closed":             {SessionView{State: "CLOSED"}, true},
	} {
		if settled(c.v) != c.want {
			t.Error(name)
		}
	}
}
