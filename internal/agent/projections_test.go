package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jwk"
)

const officeProvider = "https://p.example"

func TestPublishAndWithdraw(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.add(officeInterest())
	v, err := o.Activate(ctx, id, officeProvider)
	if err != nil || len(v.Projections) != 1 || v.Projections[0].State != "publishing" {
		t.Fatalf("with nobody who works: %+v %v", v, err)
	}
	if len(o.provider.made()) != 0 {
		t.Fatal("an act called a provider by itself")
	}
	o.restart(nil)
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	standing := o.provider.standing()
	if len(standing) != 1 || standing[0].at != officeProvider {
		t.Fatalf("%+v", standing)
	}
	p := standing[0].pub.Projection
	if p.Endpoint != v.Projections[0].Endpoint || !slices.Equal(p.Geographies, []string{"germany"}) || !slices.Equal(p.Domains, []string{"software"}) || p.Relation[0] != wire.Complementary ||
		p.InterestRef != "" || !p.ExpiresAt.Equal(p.ExpiresAt.Truncate(24*time.Hour)) {
		t.Errorf("%+v", p)
	}
	object, err := wire.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	noSecrets(t, string(object))
	if got := o.detail(id).Projections[0]; got.State != "published" || got.Problem != "" {
		t.Errorf("%+v", got)
	}
	if again, err := o.Activate(ctx, id, officeProvider); err != nil || len(again.Projections) != 1 {
		t.Errorf("published twice: %+v %v", again, err)
	}

	if _, err := o.Revoke(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got := o.detail(id).Projections[0]; got.State != "withdrawing" {
		t.Errorf("%+v", got)
	}
	o.restart(nil)
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	got := o.detail(id).Projections[0]
	if len(o.provider.standing()) != 0 || got.State != "withdrawn" || got.EffectiveBy == nil || !got.EffectiveBy.Equal(officeNoon.Add(time.Hour)) {
		t.Errorf("%+v", got)
	}
	for _, kind := range []string{"projection_prepared", "projection_published", "projection_withdrawn", "withdrawal_acknowledged"} {
		if !slices.Contains(o.trail(id), kind) {
			t.Errorf("the trail lacks %s: %v", kind, o.trail(id))
		}
	}
}

// A withdrawal is tried until the provider acknowledges it, whatever comes in between.
func TestWithdrawalIsRetried(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active(officeProvider)
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Suspend(ctx, id); err != nil {
		t.Fatal(err)
	}
	failures := []error{errDown, errBusy, errDown, providerhttp.ErrAnswer, errRefused, errDown}
	for n, failure := range failures {
		o.provider.failing(n == 2, failure)
		o.restart(nil)
		before := len(o.provider.made())
		if err := o.work(durable.WorkProjection); err != nil {
			t.Fatal(err)
		}
		if len(o.provider.made()) != before+1 {
			t.Fatalf("failure %d: %d calls", n, len(o.provider.made())-before)
		}
		got := o.detail(id).Projections[0]
		if got.State != "withdrawing" || got.Problem == "" || strings.Contains(got.Problem, "192.0.2.7") {
			t.Fatalf("failure %d: %+v", n, got)
		}
		wait := backoff(n + 1)
		if failure == error(errBusy) {
			wait = errBusy.RetryAfter
		}
		o.clock.move(wait - time.Second)
		if wait > time.Second {
			if err := o.work(durable.WorkProjection); err != nil || len(o.provider.made()) != before+1 {
				t.Fatalf("failure %d: tried before %s", n, wait)
			}
		}
		o.clock.move(time.Second)
	}
	o.provider.failing(false)
	if err := o.work(durable.WorkProjection); err != nil || o.detail(id).Projections[0].State != "withdrawn" || len(o.provider.standing()) != 0 {
		t.Errorf("%+v %v", o.detail(id).Projections[0], err)
	}
	noSecrets(t, o.clearText())
}

func TestPublishingIsRetriedAndRefusalsEndIt(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	o.provider.failing(false, errDown)
	if err := o.work(durable.WorkProjection); err != nil || o.detail(id).Projections[0].Problem != "not_reachable" {
		t.Errorf("%+v %v", o.detail(id).Projections[0], err)
	}
	o.clock.move(time.Second)
	if err := o.work(durable.WorkProjection); err != nil || o.detail(id).Projections[0].State != "published" {
		t.Errorf("%+v %v", o.detail(id).Projections[0], err)
	}
	other := o.active(officeProvider)
	o.provider.failing(false, errRefused)
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if got := o.detail(other).Projections[0]; got.State != "withdrawn" || got.Problem != string(provider.CodeRefused) {
		t.Errorf("%+v", got)
	}
	o.clock.move(time.Hour)
	before := len(o.provider.made())
	if err := o.work(durable.WorkProjection); err != nil || len(o.provider.made()) != before {
		t.Error("a refused publication is tried again")
	}
	if !slices.Contains(o.trail(other), "publication_refused") {
		t.Error("the refusal is not in the trail")
	}
}

// The answer to a publication may be lost: the projection stands at the provider, its reference is not known here, and it has to be withdrawn nevertheless.
func TestALostAnswerIsWithdrawn(t *testing.T) {
	for name, lost := range map[string]bool{"it was published": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			id := o.active(officeProvider)
			o.provider.failing(lost, errDown)
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Revoke(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			if got := o.detail(id).Projections[0].State; got != "withdrawing" {
				t.Fatal(got)
			}
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			if got := o.detail(id).Projections[0].State; got != "withdrawn" || len(o.provider.standing()) != 0 {
				t.Errorf("%s, %d stand", got, len(o.provider.standing()))
			}
		})
	}
}

// An interest may leave ACTIVE while its publication is on the way.
func TestWithdrawnWhilePublishing(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	o.restart(func(options *Options) {
		options.Providers = publishHook{o.provider, func() {
			if _, err := o.Revoke(context.Background(), id); err != nil {
				t.Error(err)
			}
		}}
	})
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if got := o.detail(id).Projections[0].State; got != "withdrawn" || len(o.provider.standing()) != 0 {
		t.Errorf("%s, %d stand", got, len(o.provider.standing()))
	}
}

// publishHook does something after a publication took effect and before its answer is back.
type publishHook struct {
	*fakeProvider
	then func()
}

func (p publishHook) Publish(ctx context.Context, at string, key *jwk.PrivateKey, pub providerhttp.Publication) (string, time.Duration, error) {
	ref, latency, err := p.fakeProvider.Publish(ctx, at, key, pub)
	p.then()
	return ref, latency, err
}

func TestWhatNoProviderKnowsIsWithdrawnAtOnce(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	if _, err := o.Revoke(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil || len(o.provider.made()) != 0 || o.detail(id).Projections[0].State != "withdrawn" {
		t.Errorf("%v %+v %v", o.provider.made(), o.detail(id).Projections[0], err)
	}
}

// P-3: projections of one interest share nothing that an observer could join them by.
func TestProjectionsCannotBeLinked(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.add(officeInterest())
	for n := range 6 {
		if _, err := o.Activate(ctx, id, fmt.Sprintf("https://p%d.example", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if got := len(o.provider.standing()); got != 6 || len(o.provider.kept) != 6 {
		t.Fatalf("%d projections under %d keys", got, len(o.provider.kept))
	}
	seen := map[string]bool{}
	for thumb, p := range o.provider.kept {
		o := p.pub.Projection
		_, ref, _ := strings.Cut(o.Endpoint, "/a2a/")
		for _, part := range []string{thumb, o.ProjectionID, ref, o.ExpiresAt.String(), ref[:16], o.ProjectionID[:16]} {
			if seen[part] || strings.Contains(o.ProjectionID, ref) {
				t.Errorf("%s is shared", part)
			}
			seen[part] = true
		}
		if strings.Contains(o.Endpoint+o.ProjectionID, id[2:]) {
			t.Error("the id of the interest stands in its projection")
		}
	}
}

// An interest that ends soon has few days on which a projection could end; two projections never share one.
func TestTooFewDays(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	doc.ExpiresAt = officeNoon.Add(36 * time.Hour)
	id := o.add(doc)
	if _, err := o.Activate(ctx, id, officeProvider); err != nil {
		t.Fatal(err)
	}
	_, err := o.Activate(ctx, id, "https://other.example")
	wantKind(t, err, "refused", "linked_life")
	if _, err := o.Suspend(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Resume(ctx, id); err != nil { // the earlier one is gone
		t.Fatal(err)
	}
	if rows := o.projections(id); !sameStates(rows, map[durable.ProjectionState]int{durable.Withdrawn: 1, durable.Publishing: 1}) {
		t.Errorf("%+v", tally(rows))
	}
}

// Resuming publishes anew with other ids and endpoints, at the same providers.
func TestResumePublishesAnew(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.add(officeInterest())
	for _, at := range []string{"", officeProvider, "https://q.example"} {
		if _, err := o.Activate(ctx, id, at); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		if err := o.work(durable.WorkProjection); err != nil {
			t.Fatal(err)
		}
		before := o.provider.standing()
		if _, err := o.Suspend(ctx, id); err != nil {
			t.Fatal(err)
		}
		if round == 1 { // the acknowledgement may come after the resumption
			if _, err := o.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.work(durable.WorkProjection); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if len(o.provider.standing()) != 0 {
				t.Error("suspended, and still to be found")
			}
			if _, err := o.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
		}
		after := o.provider.standing()
		if len(after) != 2 || len(before) != 2 || after[0].at == after[1].at {
			t.Fatalf("round %d: %d before, %d after", round, len(before), len(after))
		}
		for _, was := range before {
			for _, is := range after {
				if was.pub.Projection.Endpoint == is.pub.Projection.Endpoint || was.pub.Projection.ProjectionID == is.pub.Projection.ProjectionID {
					t.Error("an endpoint or an id came back")
				}
			}
		}
	}
	alive := 0
	for _, row := range o.projections(id) {
		if live(row, o.clock.now()) {
			alive++
		}
	}
	if alive != 3 {
		t.Errorf("%d references are answered", alive)
	}
}

// A projection ends before its interest does; another one takes its place where that needs no approval.
func TestProjectionsAreRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		permission gidp.Permission
		want       int
	}{"alone": {gidp.Yes, 1}, "with approval": {gidp.Approval, 0}} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			doc := officeInterest()
			doc.Authority[gidp.PublishProjection] = c.permission
			id := o.add(doc)
			if _, err := o.Activate(context.Background(), id, officeProvider); err != nil {
				t.Fatal(err)
			}
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			first := o.projections(id)[0]
			o.clock.move(first.ExpiresAt.Sub(o.clock.now()))
			if err := o.work(durable.WorkProjection); err != nil {
				t.Fatal(err)
			}
			now, alive := o.clock.now(), 0
			for _, row := range o.projections(id) {
				if live(row, now) {
					alive++
					if row.Ref == first.Ref || row.State != durable.Published {
						t.Errorf("%+v", row.State)
					}
				}
			}
			if alive != c.want {
				t.Errorf("%d live projections, want %d", alive, c.want)
			}
		})
	}
}

func TestWithoutANetworkOthersDoTheWork(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	o.restart(func(options *Options) { options.Providers = nil })
	if err := o.work(durable.WorkProjection); err != nil || o.detail(id).Projections[0].State != "publishing" {
		t.Errorf("%+v %v", o.detail(id).Projections[0], err)
	}
	o.restart(nil)
	o.clock.move(maxBackoff)
	if err := o.work(durable.WorkProjection); err != nil || o.detail(id).Projections[0].State != "published" {
		t.Errorf("%+v %v", o.detail(id).Projections[0], err)
	}
}

// A crash between any two commits only delays: whatever write fails, the projection is published once under one key, and later withdrawn.
func TestProjectionsSurviveFailingWrites(t *testing.T) {
	ctx := context.Background()
	for fail := 1; fail <= 8; fail++ {
		o := newOffice(t)
		id := o.active(officeProvider)
		broken := &breaking{Store: o.store, at: fail}
		for range 12 {
			o.restart(func(options *Options) { options.Store = broken })
			err := o.work(durable.WorkProjection)
			if err != nil && !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			o.clock.move(lease + time.Second)
			if o.detail(id).Projections[0].State == "published" {
				if _, err := o.Revoke(ctx, id); err != nil && !errors.Is(err, errBroken) {
					t.Fatal(err)
				}
			}
		}
		if got := o.detail(id).Projections[0].State; got != "withdrawn" || len(o.provider.kept) != 1 || len(o.provider.standing()) != 0 {
			t.Errorf("write %d failed: %s, %d keys, %d standing", fail, got, len(o.provider.kept), len(o.provider.standing()))
		}
	}
}

var errBroken = errors.New("the disk is gone")

// breaking fails one write before it is committed, and another one after it.
type breaking struct {
	durable.Store
	n, at int
}

func (b *breaking) Update(ctx context.Context, f func(durable.Writer) error) error {
	b.n++
	switch b.n {
	case b.at:
		return errBroken
	case b.at + 3:
		return errors.Join(b.Store.Update(ctx, f), errBroken)
	}
	return b.Store.Update(ctx, f)
}

func TestProvidersAreNamedByTheirOrigin(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active(officeProvider)
	for _, at := range []string{"https://P.example", "https://p.example/", "https://p.example/gidp/v1/"} {
		if v, err := o.Activate(ctx, id, at); err != nil || len(v.Projections) != 1 {
			t.Errorf("%s: %+v %v", at, v.Projections, err)
		}
	}
	for _, at := range []string{"p.example", "ftp://p.example", "https://", "https://me@p.example", "::"} {
		_, err := o.Activate(ctx, id, at)
		wantKind(t, err, "invalid", "provider")
	}
}

func TestTheKeyOfAProjectionIsSealed(t *testing.T) {
	o := newOffice(t)
	id := o.active(officeProvider)
	row := o.projections(id)[0]
	b, err := o.projectionBody(row)
	if err != nil || len(b.Key) == 0 {
		t.Fatal(err)
	}
	if bytes.Contains(row.Body, []byte(`"d"`)) || bytes.Contains(row.Body, []byte(officeProvider)) {
		t.Error("the row shows the key or the provider")
	}
	row.Ref = strings.Repeat("0", 32)
	if _, err := o.projectionBody(row); err == nil {
		t.Error("a body of another projection opens")
	}
}
