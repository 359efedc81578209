package agent

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/attestation"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
)

const (
	guild      = "member:guild.example"
	dataRoom   = "canary-room-41aa"
	dataRoomOf = "data_room"
)

// members is a world in which the seller has an attribute for members of the guild, and whoever asks for it.
func members(t testing.TB, change ...buyerSeller) *world {
	t.Helper()
	return newWorld(t, append([]buyerSeller{{seller: func(doc *interest.Interest) {
		doc.Attributes[dataRoomOf] = jcs.Raw(`"` + dataRoom + `"`)
		doc.Policy.Entries[dataRoomOf] = worldClass(t, "network")
		doc.Attributes["annex"] = jcs.Raw(`"canary-annex-77"`)
		doc.Policy.Entries["annex"] = worldClass(t, "session")
		doc.Policy.Conditions = map[string]interest.Condition{"annex": {Verify: []string{guild}}}
		doc.Policy.Networks = []string{"guild.example"}
	}}}, change...)...)
}

// issuer is a key that attests.
func issuer(t testing.TB, name string) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.Generate(name, seeded(name))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// attest gives a party n attestations.
func (p *party) attest(by *jwk.PrivateKey, property string, n int) {
	p.t.Helper()
	request, err := p.agent.RequestCredentials(p.t.Context(), p.interest, n)
	if err != nil {
		p.t.Fatal(err)
	}
	slots, err := attestation.ReadRequest(request.Request)
	if err != nil {
		p.t.Fatal(err)
	}
	batch, err := attestation.IssueBatch(slots, property, attestation.Expiry(p.agent.Now(), 2), by, p.agent.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	if v, err := p.agent.AddCredentials(p.t.Context(), p.interest, batch); err != nil || v.Left != n || v.Property != property {
		p.t.Fatalf("%+v %v", v, err)
	}
}

func (p *party) trust(by *jwk.PrivateKey, property string) {
	p.t.Helper()
	if _, err := p.agent.Trust(p.t.Context(), property, by.Public().Public); err != nil {
		p.t.Fatal(err)
	}
}

func (p *party) left() int {
	p.t.Helper()
	list, err := p.agent.Credentials(p.t.Context(), p.interest)
	if err != nil {
		p.t.Fatal(err)
	}
	n := 0
	for _, v := range list {
		n += v.Left
	}
	return n
}

// session is a session of a party by its id.
func (p *party) session(id string) SessionView {
	p.t.Helper()
	for _, v := range p.sessions() {
		if v.ID == id {
			return v
		}
	}
	p.t.Fatalf("no session %s", id)
	return SessionView{}
}

// wants lets the buyer ask for a value of a lead, and returns what it has then.
func (w *world) wants(id, key string) []ValueView {
	w.t.Helper()
	if _, err := w.buyer.agent.Request(w.t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: key}); err != nil {
		w.t.Fatal(err)
	}
	w.pump(8)
	return w.buyer.session(id).Values
}

// peerOf is what the seller knows of the buyer in its newest session.
func (w *world) peerOf() PeerView {
	w.t.Helper()
	list := w.seller.sessions()
	if len(list) == 0 {
		w.t.Fatal("no session")
	}
	return list[0].Peer
}

// A network attribute goes to a member, and is declined to everybody else as one that is not held is.
func TestANetworkAttributeIsForMembers(t *testing.T) {
	for name, c := range map[string]struct {
		setup     func(w *world, by *jwk.PrivateKey)
		member    bool
		uncounted []string
	}{
		"a stranger": {func(w *world, by *jwk.PrivateKey) { w.seller.trust(by, guild) }, false, nil},
		"a member":   {func(w *world, by *jwk.PrivateKey) { w.seller.trust(by, guild); w.buyer.attest(by, guild, 2) }, true, nil},
		"by somebody else": {func(w *world, by *jwk.PrivateKey) {
			w.seller.trust(by, guild)
			w.buyer.attest(issuer(t, "x"), guild, 2)
		}, false, []string{uncountedIssuer}},
		"believed in other": {func(w *world, by *jwk.PrivateKey) { w.seller.trust(by, "verified_agent"); w.buyer.attest(by, guild, 2) }, false, []string{uncountedIssuer}},
		"of another property": {func(w *world, by *jwk.PrivateKey) {
			w.seller.trust(by, "verified_agent")
			w.buyer.attest(by, "verified_agent", 2)
		}, false, nil},
		"nobody is believed": {func(w *world, by *jwk.PrivateKey) { w.buyer.attest(by, guild, 2) }, false, []string{uncountedIssuer}},
		"of a similar network": {func(w *world, by *jwk.PrivateKey) {
			w.seller.trust(by, guild+".evil")
			w.buyer.attest(by, guild+".evil", 2)
		}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := members(t)
			c.setup(w, issuer(t, "guild"))
			before := w.buyer.left()
			id := w.open()
			w.pump(6)
			peer := w.peerOf()
			if got := len(peer.Properties) == 1 && peer.Properties[0].Property == guild; got != c.member {
				t.Errorf("%+v", peer.Properties)
			}
			if !slices.Equal(peer.Uncounted, c.uncounted) {
				t.Errorf("uncounted %v", peer.Uncounted)
			}
			if before > 0 && w.buyer.left() != before-1 {
				t.Errorf("%d of %d left", w.buyer.left(), before)
			}
			values := w.wants(id, dataRoomOf)
			if got := len(values) == 1 && string(values[0].Value) == `"`+dataRoom+`"`; got != c.member {
				t.Errorf("disclosed: %v, want %v", values, c.member)
			}
			if leaked := w.leaked(dataRoom); c.member != (len(leaked) > 0) {
				t.Errorf("leaked %v", leaked)
			}
			if c.member {
				if values := w.wants(id, "annex"); len(values) != 2 {
					t.Errorf("the condition is met, and disclosed is %v", values)
				}
			}
			if v := w.buyer.session(id); v.State != string(session.Qualified) {
				t.Errorf("%s", v.State)
			}
			w.checkTrail()
		})
	}
}

// To believe somebody again changes nothing, and the trail has it once.
func TestABeliefIsNotedOnce(t *testing.T) {
	w := members(t)
	by := issuer(t, "guild")
	first, err := w.seller.agent.Trust(t.Context(), guild, by.Public().Public)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.advance(time.Hour)
	if again, err := w.seller.agent.Trust(t.Context(), guild, by.Public().Public); err != nil || !again.Added.Equal(first.Added) {
		t.Errorf("%+v, then %+v %v", first, again, err)
	}
	for range 2 {
		if _, err := w.seller.agent.TrustProvider(t.Context(), guild, "https://provider.example"); err != nil {
			t.Fatal(err)
		}
	}
	trail, err := w.seller.agent.Audit(t.Context(), w.seller.interest)
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, v := range trail {
		if v.Kind == "trusted" {
			noted++
		}
	}
	if noted != 2 {
		t.Errorf("%d entries for an issuer and a provider", noted)
	}
}

// What a member was told it may have is decided anew each time: when the attestation is over, or its issuer no longer believed, it is a stranger again.
func TestAPropertyLapses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world, by *jwk.PrivateKey)
		why    string
	}{
		"over": {func(w *world, _ *jwk.PrivateKey) {
			w.clock.advance(attestation.Expiry(worldStart, 2).Sub(w.clock.read()))
		}, uncountedTime},
		"distrusted": {func(w *world, by *jwk.PrivateKey) {
			if _, err := w.seller.agent.Distrust(t.Context(), guild, jwk.Thumbprint(by.Public().Public)); err != nil {
				t.Fatal(err)
			}
		}, uncountedIssuer},
	} {
		t.Run(name, func(t *testing.T) {
			w := members(t)
			w.seller.agent.Session.SessionLife, w.buyer.agent.Session.SessionLife = session.MaxLife, session.MaxLife
			by := issuer(t, "guild")
			w.seller.trust(by, guild)
			w.buyer.attest(by, guild, 1)
			id := w.open()
			w.pump(6)
			c.change(w, by)
			w.pump(2)
			if values := w.wants(id, dataRoomOf); len(values) != 0 {
				t.Errorf("%+v", values)
			}
			if values := w.wants(id, "annex"); len(values) != 0 {
				t.Errorf("a condition that was met once: %+v", values)
			}
			if peer := w.peerOf(); len(peer.Properties) != 0 || !slices.Equal(peer.Uncounted, []string{c.why}) {
				t.Errorf("%+v", peer)
			}
			w.checkTrail()
		})
	}
}

// attestationsIn lists the attestations that crossed, each once, in order.
func (w *world) attestationsIn() (out []string) {
	w.wires.mu.Lock()
	defer w.wires.mu.Unlock()
	for _, b := range w.wires.log {
		var list []string
		if o, ok := decoded(b).(*wire.SessionOpen); ok {
			list = evidence(o.TrustContext).Credentials
		} else if i := bytes.LastIndexByte(b, '}'); i >= 0 {
			list = evidence(b[:min(len(b), evidenceEnd(b))]).Credentials
		}
		for _, text := range list {
			if attestation.Is(text) && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// evidenceEnd is where the first JSON value of what crossed ends; [plain] puts its decoded parts behind it.
func evidenceEnd(b []byte) int {
	depth, quoted := 0, false
	for i, c := range b {
		switch {
		case c == '"' && (i == 0 || b[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// A stranger that opens sessions learns no membership, and uses none up; a member is shown the same in return.
func TestTheResponderShowsBackToMembers(t *testing.T) {
	w := members(t)
	by := issuer(t, "guild")
	for _, p := range []*party{w.buyer, w.seller} {
		p.trust(by, guild)
	}
	w.seller.attest(by, guild, 2)
	w.seller.attest(by, "verified_agent", 1)
	stranger := w.open()
	w.pump(6)
	if w.seller.left() != 3 || len(w.attestationsIn()) != 0 || len(w.buyer.session(stranger).Peer.Properties) != 0 {
		t.Errorf("%d left, %d crossed", w.seller.left(), len(w.attestationsIn()))
	}
	w.buyer.attest(by, guild, 1)
	member := w.open()
	w.pump(6)
	peer := w.buyer.session(member).Peer
	if len(peer.Properties) != 1 || peer.Properties[0].Property != guild || peer.Properties[0].Issuer != jwk.Thumbprint(by.Public().Public) || w.seller.left() != 2 {
		t.Errorf("%+v, %d left", peer, w.seller.left())
	}
	if got := w.attestationsIn(); len(got) != 2 {
		t.Errorf("%d crossed", len(got))
	}
	w.checkTrail()
}

// One attestation, which its holder binds to one session after the other, takes one of the responder's and no more.
func TestAnAttestationTakesOneInReturn(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	by, holder := issuer(t, "guild"), issuer(t, "holder")
	p := &party{t: t, agent: n.agent, interest: n.doc}
	p.attest(by, guild, 3)
	p.trust(by, guild)
	now := n.clock.read()
	credential, err := attestation.Issue(attestation.Claims{Property: guild, Confirm: holder.Public().Public, Expires: attestation.Expiry(now, 2)}, by, now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c := newCaller(t, fmt.Sprint("member-", i), n.refs[0])
		shown, err := attestation.Present(credential, holder, attestation.Binding{Session: c.session, Key: c.key.Kid()}, now)
		if err != nil {
			t.Fatal(err)
		}
		open := c.openObject()
		open.TrustContext = mustEncode(t, besideForm{Credentials: []string{shown}})
		data, err := wire.Encode(open)
		if err != nil {
			t.Fatal(err)
		}
		n.do(c.send(t, now, data, nil))
		if p.left() != 2 {
			t.Fatalf("%d are left after session %d", p.left(), i+1)
		}
	}
	list, err := n.agent.Sessions(t.Context(), "")
	if err != nil || len(list) != 3 {
		t.Fatalf("%d %v", len(list), err)
	}
	for _, v := range list {
		if len(v.Peer.Properties) != 1 {
			t.Errorf("%+v", v.Peer)
		}
	}
}

// What one session showed is worth nothing in another: neither to the peer that got it, nor under the same session_id, nor when an endpoint in between hands it on.
func TestAForeignAttestationCountsForNothing(t *testing.T) {
	w := members(t)
	by := issuer(t, "guild")
	for _, p := range []*party{w.buyer, w.seller} {
		p.trust(by, guild)
		p.attest(by, guild, 2)
	}
	id := w.open()
	w.pump(6)
	crossed := w.attestationsIn()
	if len(crossed) != 2 {
		t.Fatalf("%d crossed", len(crossed))
	}
	n := newNode(t, sellerDocument(t), func(o *Options) { o.Vault = w.seller.options.Vault }) // the same beliefs
	for i, text := range crossed {
		c := newCaller(t, "thief"+string(rune('a'+i)), n.refs[0])
		c.session = id // a peer chooses the id of a session
		open := c.openObject()
		open.TrustContext = mustEncode(t, besideForm{Credentials: []string{text}})
		data, err := wire.Encode(open)
		if err != nil {
			t.Fatal(err)
		}
		_, _, body := n.do(c.send(t, n.clock.read(), data, nil))
		c.task = taskIn(body)
		if bytes.Contains(body, []byte("attestation")) {
			t.Error("it is shown something in return")
		}
	}
	list, err := n.agent.Sessions(t.Context(), "")
	if err != nil || len(list) != len(crossed) {
		t.Fatalf("%d %v", len(list), err)
	}
	for _, v := range list {
		if len(v.Peer.Properties) != 0 || !slices.Equal(v.Peer.Uncounted, []string{uncountedBinding}) {
			t.Errorf("%+v", v.Peer)
		}
	}
	// The responder's names the key of the initiator: whoever stands between the two cannot use it, because it has no session under that key.
	parts := strings.Split(strings.SplitN(crossed[1], "~", 2)[1], ".")
	raw, err := jwk.DecodeBase64URL(parts[1])
	if err != nil || strings.Count(string(raw), ".") != 1 {
		t.Errorf("%s %v", raw, err)
	}
}

func mustEncode(t testing.TB, v any) jcs.Raw {
	t.Helper()
	out, err := jcs.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Two sessions of one holder share no text of the attestations but what everybody of the guild and the week has.
func TestAttestationsDoNotLinkSessions(t *testing.T) {
	w := members(t)
	by := issuer(t, "guild")
	w.seller.trust(by, guild)
	w.buyer.attest(by, guild, 2)
	w.open()
	w.open()
	w.pump(8)
	crossed := w.attestationsIn()
	if len(crossed) != 2 {
		t.Fatalf("%d crossed", len(crossed))
	}
	of := func(text string) map[string]bool {
		out := map[string]bool{}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '~' }) {
			raw, err := jwk.DecodeBase64URL(part)
			if err != nil || jcs.Check(raw) != nil {
				out[part] = true
				continue
			}
			for _, token := range strings.FieldsFunc(string(raw), func(r rune) bool { return strings.ContainsRune(`{}[]":,`, r) }) {
				if len(token) > 12 {
					out[token] = true
				}
			}
		}
		return out
	}
	one, two := of(crossed[0]), of(crossed[1])
	shared := maps.Clone(one)
	maps.DeleteFunc(shared, func(token string, _ bool) bool { return !two[token] })
	want := []string{"gidp-attestation+sd-jwt", "gidp_property", "guild.example", jwk.Thumbprint(by.Public().Public)}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(shared)); !slices.Equal(got, want) || len(one) < 9 {
		t.Errorf("shared %v of %v", got, slices.Sorted(maps.Keys(one)))
	}
}

// A value that waits for a credential is released when the other side shows it, and only then (C-15).
func TestGrantedIfVerified(t *testing.T) {
	verified := func(doc *interest.Interest) {
		doc.Attributes["plans"] = jcs.Raw(`"canary-buyer-plans"`)
		doc.Policy.Entries["plans"] = worldClass(t, "session")
		doc.Policy.Conditions = map[string]interest.Condition{"plans": {Verify: []string{"verified_agent"}}}
	}
	for name, held := range map[string]bool{"held": true, "not held": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, buyerSeller{buyer: verified})
			by := issuer(t, "registrar")
			w.buyer.trust(by, "verified_agent")
			if held {
				w.seller.attest(by, "verified_agent", 2)
			}
			w.open()
			w.pump(6)
			theirs := w.seller.one()
			if len(w.buyer.one().Peer.Properties) != 0 {
				t.Error("shown before it was asked for")
			}
			if _, err := w.seller.agent.Request(t.Context(), theirs.ID, LeadRequest{Action: RequestDisclosure, Key: "plans"}); err != nil {
				t.Fatal(err)
			}
			w.pump(10)
			v := w.seller.one()
			if got := len(v.Values) == 1; got != held {
				t.Errorf("%+v", v.Values)
			}
			if held && (w.seller.left() != 1 || len(w.buyer.one().Peer.Properties) != 1) {
				t.Errorf("%d left, %+v", w.seller.left(), w.buyer.one().Peer)
			}
			w.checkTrail()
		})
	}
}

// An own request for evidence is answered with what was shown, and changes nothing else.
func TestRequestEvidence(t *testing.T) {
	w, id := qualified(t)
	ask := func() error {
		_, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestEvidence})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	if v := w.buyer.one(); v.Peer.Evidence != evidenceAsked {
		t.Errorf("%q", v.Peer.Evidence)
	}
	if err := ask(); err == nil {
		t.Error("asked twice")
	}
	w.pump(6)
	v := w.buyer.one()
	if v.Peer.Evidence != evidenceAnswered || v.State != string(session.Qualified) || v.Order != "" {
		t.Errorf("%+v", v)
	}
	if v.Peer.Mandate == "" || v.Peer.Levels[gidp.Introduce].Evidenced {
		t.Errorf("%+v", v.Peer)
	}
	theirs := w.seller.one()
	if _, err := w.seller.agent.Request(t.Context(), theirs.ID, LeadRequest{Action: RequestEvidence}); err != nil {
		t.Fatal(err)
	}
	w.pump(8)
	if v := w.seller.one(); v.Peer.Evidence != evidenceAnswered {
		t.Errorf("%q", v.Peer.Evidence)
	}
	w.checkTrail()
}

// Two nodes that differ in attestations of their own answer a stranger alike, byte for byte.
func TestAttestationsDoNotShowToStrangers(t *testing.T) {
	run := func(setup func(n *node)) string {
		n := newNode(t, sellerDocument(t))
		setup(n)
		c := newCaller(t, "stranger", n.refs[0])
		r, body := c.open(n)
		n.clock.advance(time.Second)
		return string(withoutDigests(body)) + n.seen(c.get(t, n.clock.read())) + r.path
	}
	by := issuer(t, "guild")
	plain := run(func(*node) {})
	holder := run(func(n *node) {
		p := &party{t: t, agent: n.agent, interest: n.doc}
		n.random.Reader = seeded("elsewhere")
		p.attest(by, guild, 3)
		p.trust(by, guild)
		n.random.Reader = seeded("node")
		again := newNode(t, sellerDocument(t)) // draws what the first one has drawn so far
		n.random.Reader = again.random.Reader
	})
	if strip := func(s string) string { return string(withoutDigests([]byte(s))) }; strip(plain) != strip(holder) {
		t.Errorf("they differ:\n%s\n%s", strip(plain), strip(holder))
	}
}
