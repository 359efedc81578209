package proof_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/internal/proof"
	"sayso/jcs"
)

const aDay = 24 * time.Hour

func TestTokenDerivation(t *testing.T) {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("xp-proof-v1\x00hammer-and-nail\x00shop.example\x00dns_txt\x000123456789abcdef"))
	want := strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil)[:20]))
	got := proof.Token(secret, publisher, host, proof.DNSTXT, nonce)
	if got != want || len(got) != 32 {
		t.Errorf("token %q, want %q", got, want)
	}
	others := map[string]bool{got: true}
	for _, other := range []string{
		proof.Token([]byte("another secret"), publisher, host, proof.DNSTXT, nonce), proof.Token(secret, "other", host, proof.DNSTXT, nonce),
		proof.Token(secret, publisher, "www."+host, proof.DNSTXT, nonce), proof.Token(secret, publisher, host, proof.WellKnown, nonce),
		proof.Token(secret, publisher, host, proof.DNSTXT, proof.NewNonce()), proof.Token(secret, publisher, host, proof.DNSTXT, proof.NewNonce()),
	} {
		if others[other] {
			t.Errorf("%q comes twice", other)
		}
		others[other] = true
	}
	if len(proof.NewNonce()) != 16 {
		t.Error("the nonce does not have 128 bits")
	}
}

func TestInstructions(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	in := ch.Instructions()
	if in.Place != "_sayso-challenge.shop.example" || in.Value != "token="+ch.Token || !strings.Contains(in.Text, in.Place) || !strings.Contains(in.Text, in.Value) ||
		!strings.Contains(in.Text, "enter _sayso-challenge as") {
		t.Errorf("%+v", in)
	}
	ch.Host = "www.shop.co.uk"
	if in = ch.Instructions(); !strings.Contains(in.Text, "adds .shop.co.uk by itself, enter _sayso-challenge.www as") {
		t.Errorf("%+v", in)
	}
	ch = challengeOf(proof.WellKnown)
	in = ch.Instructions()
	if in.Place != "https://shop.example/.well-known/sayso-challenge" || in.Value != ch.Token || !strings.Contains(in.Text, in.Place) || !strings.Contains(in.Text, in.Value) {
		t.Errorf("%+v", in)
	}
	if strings.Contains(strings.ToLower(in.Text), "registered") {
		t.Error("XP-DISCOVERY-007: the path is called registered")
	}
	// What the instructions say is what proves.
	ch = challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(ch.Instructions().Place+".", ch.Instructions().Value))
	want(t, newChecker(d), ch, proof.Proven)
}

func TestCase20TokenOfAnotherPublisher(t *testing.T) {
	ofA := challengeOf(proof.DNSTXT)
	ofB := ofA
	ofB.Token = proof.Token(secret, "publisher-b", host, proof.DNSTXT, nonce)
	d := newDNS(t, zone, txt(challenge, "token="+ofA.Token))
	want(t, newChecker(d), ofA, proof.Proven)
	want(t, newChecker(d), ofB, proof.CodeWrongValue)
	c, _, _ := onWeb(t, text(challengeOf(proof.WellKnown).Token))
	webB := challengeOf(proof.WellKnown)
	webB.Token = proof.Token(secret, "publisher-b", host, proof.WellKnown, nonce)
	want(t, c, webB, proof.CodeWrongBody)
}

func TestCase21TokenPastItsTime(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	c := newChecker(d)
	now := start
	c.Now = func() time.Time { return now }
	state := proof.NewState(start)
	check := func(code string) {
		t.Helper()
		ch.Until = state.Until()
		_, f := want(t, c, ch, code)
		state = state.After(f, now)
	}
	// A pending token ends after seven days, and asks nobody any more.
	now = start.Add(proof.TokenLife)
	check(proof.CodeTokenExpired)
	if state.Status != proof.Pending || len(d.Questions()) != 0 {
		t.Errorf("%+v, asked %v", state, d.Questions())
	}
	now = start.Add(proof.TokenLife - time.Microsecond)
	check(proof.Proven)
	// A proven one outlives the seven days, until valid_until.
	now = state.ValidUntil.Add(-time.Microsecond)
	check(proof.Proven)
	now = state.ValidUntil
	check(proof.CodeTokenExpired)
	if state.Status != proof.Lapsed {
		t.Errorf("%+v", state)
	}
}

func TestCase22RecordRemoved(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	c := newChecker(d)
	state := proof.NewState(start).After(nil, start)
	if !state.NextCheck.Equal(start.Add(45*aDay)) || !state.ValidUntil.Equal(start.Add(90*aDay)) {
		t.Fatalf("%+v", state)
	}
	d.Remove(challenge, "TXT")
	for n := 1; n <= 3; n++ {
		at := state.NextCheck
		_, f := want(t, c, ch, proof.CodeNXDomain)
		state = state.After(f, at)
		if lapsed := n == 3; (state.Status == proof.Lapsed) != lapsed || state.FailedDays != n || (!lapsed && !state.NextCheck.Equal(at.Add(aDay))) {
			t.Fatalf("day %d: %+v", n, state)
		}
	}
	// The history stays: when it was proven, and when it was seen missing.
	if !state.VerifiedAt.Equal(start) || !state.LastFailure.Equal(start.Add(47*aDay)) || !state.NextCheck.IsZero() || !state.Until().IsZero() {
		t.Errorf("%+v", state)
	}
	// The page of a well_known proof is removed.
	page, _, _ := onWeb(t, text("gone"))
	if _, f := want(t, page, challengeOf(proof.WellKnown), proof.CodeWrongBody); f != nil && !f.Counts {
		t.Errorf("%+v", f)
	}
}

func TestCase23ReRegisteredDomain(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone)
	c := newChecker(d)
	state := proof.NewState(start).After(nil, start)
	for range 3 {
		_, f := c.Check(t.Context(), ch)
		state = state.After(f, state.NextCheck)
	}
	if state.Status != proof.Lapsed {
		t.Fatalf("%+v", state)
	}
	// The new owner adds the record of the old one, long before its valid_until.
	put(t, d, txt(challenge, "token="+ch.Token))
	ch.Until = state.Until()
	_, f := want(t, c, ch, proof.CodeTokenExpired)
	if got := state.After(f, start.Add(50*aDay)); got != state {
		t.Errorf("%+v", got)
	}
	if got := state.After(nil, start.Add(50*aDay)); got != state {
		t.Errorf("a lapsed proof is revived: %+v", got)
	}
	// A new attempt has a new nonce, to which the old record says nothing.
	again := challengeOf(proof.DNSTXT)
	again.Token = proof.Token(secret, publisher, host, proof.DNSTXT, proof.NewNonce())
	want(t, c, again, proof.CodeWrongValue)
}

// Both proofs hold; what to do about the conflict is decided above.
func TestCase24TwoPublishersOneHost(t *testing.T) {
	first, second := challengeOf(proof.DNSTXT), challengeOf(proof.DNSTXT)
	second.Token = proof.Token(secret, "publisher-b", host, proof.DNSTXT, nonce)
	d := newDNS(t, zone, txt(challenge, "token="+first.Token), txt(challenge, "token="+second.Token))
	c := newChecker(d)
	one, _ := want(t, c, first, proof.Proven)
	two, _ := want(t, c, second, proof.Proven)
	if one.Host != two.Host || one.AnswerHash != two.AnswerHash {
		t.Errorf("%+v %+v", one, two)
	}
}

func TestScheduleTable(t *testing.T) {
	counts, outage := &proof.Failure{Code: proof.CodeNXDomain, Counts: true}, &proof.Failure{Code: proof.CodeTimeout}
	type step struct {
		after   time.Duration // since the first proof
		failure *proof.Failure
		status  string
		days    int
	}
	for name, steps := range map[string][]step{
		"success renews":             {{45 * aDay, nil, proof.Proven, 0}, {134 * aDay, nil, proof.Proven, 0}, {224 * aDay, nil, proof.Lapsed, 0}},
		"three in one day":           {{45 * aDay, counts, proof.Proven, 1}, {45*aDay + time.Hour, counts, proof.Proven, 1}, {46*aDay - 1, counts, proof.Proven, 1}, {46 * aDay, counts, proof.Proven, 2}},
		"success forgives":           {{45 * aDay, counts, proof.Proven, 1}, {46 * aDay, counts, proof.Proven, 2}, {47 * aDay, nil, proof.Proven, 0}, {92 * aDay, counts, proof.Proven, 1}},
		"outage neither way":         {{45 * aDay, counts, proof.Proven, 1}, {46 * aDay, outage, proof.Proven, 1}, {47 * aDay, counts, proof.Proven, 2}, {48 * aDay, outage, proof.Proven, 2}, {49 * aDay, counts, proof.Lapsed, 3}},
		"outage until the end":       {{45 * aDay, outage, proof.Proven, 0}, {90*aDay - 1, outage, proof.Proven, 0}, {90 * aDay, outage, proof.Lapsed, 0}},
		"success comes too late":     {{90 * aDay, nil, proof.Lapsed, 0}},
		"asked before the half-life": {{5 * aDay, counts, proof.Proven, 1}, {6 * aDay, counts, proof.Proven, 2}, {7 * aDay, counts, proof.Lapsed, 3}},
	} {
		state := proof.NewState(start).After(nil, start)
		for i, s := range steps {
			state = state.After(s.failure, start.Add(s.after))
			if state.Status != s.status || state.FailedDays != s.days {
				t.Errorf("%s, step %d: %+v", name, i, state)
			}
		}
	}
	// The registry looks again when the proof ends, not a day after its last look.
	late := proof.NewState(start).After(nil, start).After(outage, start.Add(90*aDay-time.Hour))
	if !late.NextCheck.Equal(late.ValidUntil) {
		t.Errorf("%+v", late)
	}
	pending := proof.NewState(start)
	if got := pending.After(counts, start.Add(aDay)); got != pending {
		t.Errorf("a failed first check changes %+v", got)
	}
	if got := pending.After(nil, start.Add(proof.TokenLife)); got != pending {
		t.Errorf("an expired token is proven: %+v", got)
	}
}

// Whatever happens in whatever order: no proof outlives its valid_until, nothing revives a lapsed one, only failures that count bring a lapse before.
func TestScheduleProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := start
		state := proof.NewState(start).After(nil, start)
		counted := map[time.Time]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(30*aDay)).Draw(t, "wait")))
			var f *proof.Failure
			switch rapid.IntRange(0, 3).Draw(t, "outcome") {
			case 0:
				counted = map[time.Time]bool{}
			case 1:
				f = &proof.Failure{Code: proof.CodeServFail}
			default:
				f = &proof.Failure{Code: proof.CodeWrongValue, Counts: true}
				counted[now] = true
			}
			before := state
			state = state.After(f, now)
			switch {
			case before.Status == proof.Lapsed && state != before:
				t.Fatalf("a lapsed proof changed: %+v", state)
			case state.Status == proof.Proven && (!now.Before(state.ValidUntil) || state.NextCheck.After(state.ValidUntil) || !state.NextCheck.After(now)):
				t.Fatalf("at %s: %+v", now, state)
			case before.Status == proof.Proven && state.Status == proof.Lapsed && now.Before(before.ValidUntil) && len(counted) < 3:
				t.Fatalf("lapsed after %d failures: %+v", len(counted), state)
			}
		}
	})
}

func TestEvidenceIsStableJSON(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	ev, _ := newChecker(d).Check(t.Context(), ch)
	out, err := jcs.Encode(ev)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"host":"shop.example","method":"dns_txt","place":"_sayso-challenge.shop.example","at":"2031-05-04T12:00:00Z","outcome":"proven","vantage_points":[{"name":"` + d.Addr().String() +
		`","outcome":"proven","answer_hash":"` + ev.AnswerHash + `"}],"answer_hash":"` + ev.AnswerHash + `","ad":false,"suffix_list":"` + proof.SuffixListVersion() + `"}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if strings.Contains(string(out), ch.Token) {
		t.Error("the evidence holds the token")
	}
	var back proof.Evidence
	if err := jcs.DecodeKnown(out, &back); err != nil {
		t.Error(err)
	}
	d.Remove(challenge, "TXT")
	ev, _ = newChecker(d).Check(t.Context(), ch)
	if out, _ = jcs.Encode(ev); !json.Valid(out) || !strings.Contains(string(out), `"soa_minimum":300`) {
		t.Errorf("%s", out)
	}
	refusal, _ := newChecker(d).Check(t.Context(), proof.Challenge{Host: "com", Method: proof.DNSTXT})
	if out, _ = jcs.Encode(refusal); !strings.Contains(string(out), `"vantage_points":[]`) || !strings.Contains(string(out), `"outcome":"host_not_allowed"`) {
		t.Errorf("%s", out)
	}
}

func TestUnknownMethod(t *testing.T) {
	d := newDNS(t)
	for _, method := range []string{"", "DNS_TXT", "http"} {
		ch := challengeOf(proof.DNSTXT)
		ch.Method = method
		want(t, newChecker(d), ch, proof.CodeUnknownMethod)
	}
	if len(d.Questions()) != 0 {
		t.Error("asked")
	}
}
