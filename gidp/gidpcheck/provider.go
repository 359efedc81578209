package gidpcheck

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/gidp/httpsig"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/safefetch"
)

// providerCheck is one provider under one check.
type providerCheck struct {
	*checker
	origin    string
	info      providerhttp.Info
	publisher *jwk.PrivateKey
	querent   *jwk.PrivateKey
	stranger  *jwk.PrivateKey
	label     string // that nobody else has
	endpoint  string
	ref       string    // of the projection that was published; "": none
	left      []offered // everything that the provider took
}

// offered is a projection that the provider took.
type offered struct {
	ref string
	key *jwk.PrivateKey
}

// afterPublishing are the rules that need a projection of ours at the provider.
var afterPublishing = []string{"GP-PUBLISH-001", "GP-SIGN-002", "GP-FOREIGN-001", "GP-QUERY-001", "GP-QUERY-002", "GP-QUERY-003", "GP-RESOLVE-001", "GP-UPDATE-001",
	"GP-WITHDRAW-001", "GP-WITHDRAW-002", "GP-EXPIRY-001"}

// provider looks at a provider. What it published is withdrawn, whatever else goes wrong.
func (c *checker) provider(origin string) (err error) {
	p := &providerCheck{checker: c, origin: origin}
	for _, key := range []**jwk.PrivateKey{&p.publisher, &p.querent, &p.stranger} {
		if *key, err = c.key(); err != nil {
			return err
		}
	}
	p.label = "check_" + letters(c.canary)
	p.endpoint = c.Endpoint
	if p.endpoint == "" {
		p.endpoint = "https://check.invalid/a2a/" + c.canary
	}
	defer p.clear()
	for _, step := range []func() error{p.document, p.unsigned, p.bodies, p.refusals, p.broad, p.publish} {
		if err := step(); err != nil {
			return err
		}
	}
	if p.ref == "" {
		return nil
	}
	for _, step := range []func() error{p.replayed, p.found, p.foreign, p.update, p.expiry, p.withdraw} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// clear withdraws what the provider still has, also when the check was ended. What a provider refuses now expires by itself.
func (p *providerCheck) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 10*time.Second)
	defer cancel()
	p.ctx = ctx
	for _, o := range p.left {
		_, _ = p.ask(http.MethodDelete, "projections/"+url.PathEscape(o.ref), body(o.key, ""), o.key)
	}
}

// note keeps what the provider took, by the key that stands in the body.
func (p *providerCheck) note(r *reply, sent []byte, key *jwk.PrivateKey) {
	var got struct {
		Ref string `json:"projection_ref"`
	}
	if r.status != http.StatusCreated || jcs.Decode(r.body, &got) != nil || got.Ref == "" {
		return
	}
	if bytes.Contains(sent, jwk.EncodePublic(p.publisher.Public().Public)) {
		key = p.publisher
	}
	if !slices.ContainsFunc(p.left, func(o offered) bool { return o.ref == got.Ref }) {
		p.left = append(p.left, offered{got.Ref, key})
	}
}

// gone notes that a projection was withdrawn.
func (p *providerCheck) gone(ref string) {
	p.left = slices.DeleteFunc(p.left, func(o offered) bool { return o.ref == ref })
}

// letters spells hex digits as letters: a label with many digits could be a number of somebody.
func letters(hex string) string {
	return strings.Map(func(r rune) rune {
		if r <= '9' {
			return 'g' + r - '0'
		}
		return r
	}, hex)
}

// ask sends one operation, signed by a key unless it is nil, with an edit of the request before it leaves.
func (p *providerCheck) ask(method, path string, body []byte, key *jwk.PrivateKey, edit ...func(*outgoing)) (*reply, error) {
	o := &outgoing{method: method, url: p.origin + providerhttp.Base + path, body: body, key: key, profile: &httpsig.Provider}
	for _, e := range edit {
		e(o)
	}
	r, err := p.send(o)
	if err != nil || r.err != nil {
		return r, err
	}
	p.note(r, body, key)
	if r.status >= 400 {
		var said struct {
			Code string `json:"error"`
		}
		kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
		p.expect(kind == "application/json" && jcs.Decode(r.body, &said) == nil && said.Code != "" && !p.repeats(r) && !bytes.Contains(r.body, []byte(p.label)), "GP-ERROR-001", o.url,
			"a refusal (%d) has no code, or repeats what was sent", r.status)
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		_, err := strconv.ParseUint(r.header.Get("Retry-After"), 10, 31)
		_, date := http.ParseTime(r.header.Get("Retry-After"))
		p.expect(err == nil || date == nil, "GP-QUOTA-001", o.url, "a %d has Retry-After %q", r.status, r.header.Get("Retry-After"))
	}
	return r, nil
}

// document is GP-INFO.
func (p *providerCheck) document() error {
	at := p.origin + providerhttp.Base
	r, err := p.ask(http.MethodGet, "", nil, nil)
	if err != nil {
		return err
	}
	if r.err != nil {
		return &silence{r}
	}
	ok := r.status == http.StatusOK && jcs.Decode(r.body, &p.info) == nil && p.info.Protocol == wire.Version
	if !p.expect(ok, "GP-INFO-001", at, "the answer is %d and no information document of %s", r.status, wire.Version) {
		return nil
	}
	i := p.info
	quota, open := i.Quotas.PerKey[""]
	p.expect(i.WithdrawLatency > 0 && i.MaxPage >= 1 && i.MaxPage <= provider.MaxLimit && i.MaxLife >= 1 && i.MaxLife <= 90 &&
		i.Hierarchies != nil && (i.TrustDomain != "" || open && quota.Search > 0), "GP-INFO-001", at,
		"the document promises a latency of %d s, a page of %d, a life of %d days, or no quota", i.WithdrawLatency, i.MaxPage, i.MaxLife)
	p.expect(i.Origin == p.origin, "GP-INFO-001", at, "the document names another origin than the one that was asked")
	return nil
}

// body writes a request with the public key of a key.
func body(key *jwk.PrivateKey, members string) []byte {
	out := append([]byte(`{"key":`), jwk.EncodePublic(key.Public().Public)...)
	if members != "" {
		out = append(append(out, ','), members...)
	}
	return append(out, '}')
}

// offer writes a projection of the label that lives for a while.
func (p *providerCheck) offer(label string, life time.Duration, endpoint string) string {
	data, err := wire.Encode(&wire.DiscoveryProjection{ExpiresAt: p.Now().Add(life), ProjectionID: p.canary, Endpoint: endpoint, Domains: []string{label},
		Relation: []string{wire.Complementary}})
	if err != nil {
		return `{}` // an Endpoint of the caller that no projection can name
	}
	return `"projection":` + string(data)
}

const day = 24 * time.Hour

// unsigned is GP-SIGN-001.
func (p *providerCheck) unsigned() error {
	good := body(p.publisher, p.offer(p.label, 7*day, p.endpoint))
	for _, c := range []struct {
		what string
		edit func(*outgoing)
	}{
		{"unsigned", func(o *outgoing) { o.key = nil }},
		{"altered", func(o *outgoing) {
			o.swap = bytes.Replace(o.body, []byte(p.label), []byte(p.label[:len(p.label)-1]+"z"), 1)
		}},
		{"signed an hour ago", func(o *outgoing) { o.created = p.Now().Add(-time.Hour) }},
		{"signed by another key", func(o *outgoing) { o.key = p.stranger }},
		{"signed for another path", func(o *outgoing) { p.elsewhere(o) }},
	} {
		r, err := p.ask(http.MethodPost, "projections", good, p.publisher, c.edit)
		if err != nil {
			return err
		}
		p.hold(r, r.status == http.StatusUnauthorized, "GP-SIGN-001", p.origin, "a publication that is %s is answered %d", c.what, r.status)
	}
	return nil
}

// elsewhere signs for another path than the one that is asked.
func (p *providerCheck) elsewhere(o *outgoing) {
	at := o.url
	o.url += "/other"
	o.header = http.Header{"Content-Type": {"application/json"}}
	if p.sign(o) == nil {
		o.kept = true
	}
	o.url = at
}

// bodies is GP-BODY.
func (p *providerCheck) bodies() error {
	good := string(body(p.publisher, p.offer(p.label, 7*day, p.endpoint)))
	for _, c := range []struct{ what, text string }{
		{"a name that stands twice", strings.Replace(good, `{"key":`, `{"k\u0065y":1,"key":`, 1)},
		{"a second value", good + " {}"},
		{"a member too many", strings.Replace(good, `{"key":`, `{"extra":1,"key":`, 1)},
		{"another media type", good},
		{"a body of 100 KiB", strings.Replace(good, `{"key":`, `{"extra":"`+strings.Repeat("x", 100<<10)+`","key":`, 1)},
	} {
		r, err := p.ask(http.MethodPost, "projections", []byte(c.text), p.publisher, func(o *outgoing) {
			if c.what == "another media type" {
				o.header = http.Header{"Content-Type": {"text/plain"}}
			}
		})
		if err != nil {
			return err
		}
		if r.err != nil {
			if c.what != "a body of 100 KiB" { // a server may hang up on it
				p.skip(unanswered(r), "GP-BODY-001")
			}
			continue
		}
		p.expect(slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity},
			r.status), "GP-BODY-001", p.origin, "%s is answered %d", c.what, r.status)
	}
	return nil
}

// turned reports that a readable request was not taken.
func turned(r *reply) bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity
}

// refusals is GP-REFUSE.
func (p *providerCheck) refusals() error {
	good := p.offer(p.label, 7*day, p.endpoint)
	loopback := safefetch.LoopbackOf(p.origin) != ""
	for _, c := range []struct{ rule, what, text string }{
		{"GP-REFUSE-001", "with a member that the protocol does not know", strings.Replace(good, `{`, `{"extra":1,`, 1)},
		{"GP-REFUSE-001", "with an identity", strings.Replace(good, `{`, `{"principal_identity":"check",`, 1)},
		{"GP-REFUSE-001", "without a retrieval attribute", strings.Replace(good, `"domains":["`+p.label+`"],`, ``, 1)},
		{"GP-REFUSE-001", "with an address as its label", strings.Replace(good, p.label, "check@check.invalid", 1)},
		{"GP-REFUSE-002", "that has expired", p.offer(p.label, -day, p.endpoint)},
		{"GP-REFUSE-002", "that lives for 91 days", p.offer(p.label, 91*day+time.Hour, p.endpoint)},
		{"GP-REFUSE-002", "at an address that is not https", p.offer(p.label, 7*day, "http://check.invalid/a2a/"+p.canary)},
		{"GP-REFUSE-002", "at a private address", p.offer(p.label, 7*day, "https://10.0.0.1/a2a/"+p.canary)},
	} {
		if loopback && strings.Contains(c.what, "private") {
			continue // a provider on the own machine takes those
		}
		key, err := p.key()
		if err != nil {
			return err
		}
		r, err := p.ask(http.MethodPost, "projections", body(key, c.text), key)
		if err != nil {
			return err
		}
		p.hold(r, turned(r), c.rule, p.origin, "a projection %s is answered %d", c.what, r.status)
	}
	return nil
}

// broad is GP-QUERY-004.
func (p *providerCheck) broad() error {
	good := p.offer(p.label, day, "https://check.invalid/a2a/"+p.canary)
	for _, c := range []struct{ what, text string }{
		{"a relation alone", strings.Replace(good, `"domains":["`+p.label+`"],`, ``, 1)},
		{"a wildcard", strings.Replace(good, p.label, "*", 1)},
		{"an empty label", strings.Replace(good, p.label, "", 1)},
	} {
		r, err := p.ask(http.MethodPost, "candidates", body(p.querent, c.text), p.querent)
		if err != nil {
			return err
		}
		p.hold(r, turned(r), "GP-QUERY-004", p.origin, "a query for %s is answered %d", c.what, r.status)
	}
	return nil
}

// publish is GP-PUBLISH.
func (p *providerCheck) publish() error {
	r, err := p.ask(http.MethodPost, "projections", body(p.publisher, p.offer(p.label, 7*day, p.endpoint)), p.publisher)
	if err != nil {
		return err
	}
	switch {
	case r.err != nil:
		p.skip(unanswered(r), afterPublishing...)
		return nil
	case turned(r) && p.Endpoint == "":
		p.skip("the provider refuses an endpoint that leads nowhere, as it may; name one of an own agent", afterPublishing...)
		return nil
	case r.status == http.StatusForbidden:
		p.skip("the provider serves members of its trust domain alone", afterPublishing...)
		return nil
	}
	var got struct {
		Ref     string `json:"projection_ref"`
		Latency int    `json:"withdraw_latency_s"`
	}
	ok := r.status == http.StatusCreated && jcs.Decode(r.body, &got) == nil
	p.expect(ok && len(got.Ref) >= 22 && len(got.Ref) <= 128 && got.Ref != p.canary && got.Latency == p.info.WithdrawLatency, "GP-PUBLISH-001", p.origin,
		"a publication is answered %d with a reference of %d bytes and a latency of %d s, published are %d s", r.status, len(got.Ref), got.Latency, p.info.WithdrawLatency)
	if p.ref = got.Ref; p.ref == "" {
		p.skip("nothing was published", afterPublishing...)
	}
	return nil
}

// replayed is GP-SIGN-002: an update that is sent twice with the very same signature.
func (p *providerCheck) replayed() error {
	var sent *outgoing
	path := "projections/" + url.PathEscape(p.ref)
	r, err := p.ask(http.MethodPut, path, body(p.publisher, p.offer(p.label, 7*day, p.endpoint)), p.publisher, func(o *outgoing) { sent = o })
	if err != nil {
		return err
	}
	p.hold(r, r.status == http.StatusOK, "GP-UPDATE-001", p.origin, "an update is answered %d", r.status)
	again := *sent
	again.kept = true
	r, err = p.ask(http.MethodPut, path, nil, nil, func(o *outgoing) { *o = again })
	if err != nil {
		return err
	}
	p.hold(r, r.status == http.StatusUnauthorized, "GP-SIGN-002", p.origin, "the same request with the same signature is answered %d", r.status)
	return nil
}

// candidate is one that a query found.
type candidate struct{ ref, projection string }

// query asks for candidates with a label and holds the page to GP-QUERY-002 and -003.
func (p *providerCheck) query(label string, limit int) (list []candidate, ok bool, err error) {
	text := p.offer(label, day, "https://check.invalid/a2a/"+p.canary) + `,"limit":` + strconv.Itoa(limit)
	r, err := p.ask(http.MethodPost, "candidates", body(p.querent, text), p.querent)
	if err != nil {
		return nil, false, err
	}
	if r.err != nil || limit > provider.MaxLimit && turned(r) {
		return nil, r.err == nil, nil
	}
	members, malformed := jcs.Members(r.body)
	only := r.status == http.StatusOK && malformed == nil
	var items []jcs.Raw
	for _, m := range members {
		if m.Name == "candidates" {
			only = jcs.Decode(m.Value, &items) == nil && only
		} else if m.Name != "cursor" {
			only = false
		}
	}
	for _, item := range items {
		inner, err := jcs.Members(item)
		var c candidate
		for _, m := range inner {
			switch m.Name {
			case "candidate_ref":
				c.ref, _ = jcs.Text(m.Value)
			case "projection_ref":
				c.projection, _ = jcs.Text(m.Value)
			default:
				only = false
			}
		}
		only = only && err == nil && c.ref != "" && c.projection != ""
		list = append(list, c)
	}
	p.expect(only, "GP-QUERY-002", p.origin, "a query is answered %d with other members than references and a cursor", r.status)
	p.expect(len(list) <= min(limit, max(p.info.MaxPage, 1)), "GP-QUERY-003", p.origin, "a query with the limit %d is answered with %d candidates", limit, len(list))
	return list, true, nil
}

// holds reports whether our projection is among candidates, and the reference it is resolved by.
func (p *providerCheck) holds(list []candidate) (string, bool) {
	n := slices.IndexFunc(list, func(c candidate) bool { return c.projection == p.ref })
	if n < 0 {
		return "", false
	}
	return list[n].ref, true
}

// found is GP-QUERY and GP-RESOLVE.
func (p *providerCheck) found() error {
	for _, limit := range []int{10, 1000} {
		list, ok, err := p.query(p.label, limit)
		if err != nil {
			return err
		}
		if !ok || limit > 10 {
			continue
		}
		ref, there := p.holds(list)
		if !p.expect(there, "GP-QUERY-001", p.origin, "what was published is not found by its label") {
			continue
		}
		for _, key := range []*jwk.PrivateKey{p.querent, p.stranger} {
			r, err := p.resolve(ref, key)
			if err != nil {
				return err
			}
			var got struct {
				Endpoint string `json:"endpoint"`
				Ref      string `json:"projection_ref"`
			}
			switch {
			case r.err != nil:
			case key == p.stranger:
				p.expect(r.status >= 400, "GP-RESOLVE-001", p.origin, "another querent resolves a candidate: %d", r.status)
			default:
				p.expect(r.status == http.StatusOK && jcs.Decode(r.body, &got) == nil && got.Endpoint == p.endpoint && got.Ref == p.ref, "GP-RESOLVE-001", p.origin,
					"a candidate does not resolve to the endpoint that was published: %d", r.status)
			}
		}
	}
	return nil
}

func (p *providerCheck) resolve(ref string, key *jwk.PrivateKey) (*reply, error) {
	return p.ask(http.MethodPost, "candidates/"+url.PathEscape(ref)+"/resolve", body(key, ""), key)
}

// foreign is GP-FOREIGN.
func (p *providerCheck) foreign() error {
	path := "projections/" + url.PathEscape(p.ref)
	for _, c := range []struct {
		method string
		body   []byte
	}{{http.MethodPut, body(p.stranger, p.offer(p.label+"_x", 7*day, p.endpoint+"/x"))}, {http.MethodDelete, body(p.stranger, "")}} {
		r, err := p.ask(c.method, path, c.body, p.stranger)
		if err != nil {
			return err
		}
		p.hold(r, r.status >= 400, "GP-FOREIGN-001", p.origin, "%s of a projection of another key is answered %d", c.method, r.status)
	}
	return nil
}

// update is GP-UPDATE, and that nothing foreign had an effect before.
func (p *providerCheck) update() error {
	list, ok, err := p.query(p.label, 10)
	if err != nil {
		return err
	}
	if _, there := p.holds(list); ok {
		p.expect(there, "GP-FOREIGN-001", p.origin, "after requests of another key the projection is gone")
	}
	changed := p.label + "_b"
	r, err := p.ask(http.MethodPut, "projections/"+url.PathEscape(p.ref), body(p.publisher, p.offer(changed, 7*day, p.endpoint)), p.publisher)
	if err != nil {
		return err
	}
	var got struct {
		Ref string `json:"projection_ref"`
	}
	if r.err != nil || !p.expect(r.status == http.StatusOK && jcs.Decode(r.body, &got) == nil && got.Ref == p.ref, "GP-UPDATE-001", p.origin,
		"an update is answered %d, or with another reference", r.status) {
		return nil
	}
	before := p.label
	p.label = changed
	for _, label := range []string{before, changed} {
		list, ok, err := p.query(label, 10)
		if err != nil {
			return err
		}
		if _, there := p.holds(list); ok {
			p.expect(there == (label == changed), "GP-UPDATE-001", p.origin, "after an update the old label finds the projection, or the new one does not")
		}
	}
	return nil
}

// expiry is GP-EXPIRY: a projection under another key that lives for three seconds.
func (p *providerCheck) expiry() error {
	const life = 3 * time.Second
	key, err := p.key()
	if err != nil {
		return err
	}
	label := p.label + "_e"
	r, err := p.ask(http.MethodPost, "projections", body(key, p.offer(label, life, p.endpoint+"e")), key)
	if err != nil {
		return err
	}
	if r.err != nil || r.status != http.StatusCreated {
		p.skip("the provider takes no projection that lives for seconds", "GP-EXPIRY-001")
		return nil
	}
	if err := p.Pause(p.ctx, life+time.Second); err != nil {
		return err
	}
	list, ok, err := p.query(label, 10)
	if err != nil {
		return err
	}
	if ok && p.expect(len(list) == 0, "GP-EXPIRY-001", p.origin, "a projection is found after it has expired") {
		p.left = slices.DeleteFunc(p.left, func(o offered) bool { return o.key == key })
	}
	return nil
}

// withdraw is GP-WITHDRAW.
func (p *providerCheck) withdraw() error {
	list, _, err := p.query(p.label, 10)
	if err != nil {
		return err
	}
	candidate, _ := p.holds(list)
	var by time.Time
	for n := range 2 { // the second time changes nothing and is acknowledged too
		asked := p.Now()
		r, err := p.ask(http.MethodDelete, "projections/"+url.PathEscape(p.ref), body(p.publisher, ""), p.publisher)
		if err != nil {
			return err
		}
		if r.err != nil {
			p.skip(unanswered(r), "GP-WITHDRAW-001", "GP-WITHDRAW-002")
			return nil
		}
		var got struct {
			Acknowledged bool   `json:"acknowledged"`
			EffectiveBy  string `json:"effective_by"`
		}
		ok := r.status == http.StatusAccepted && jcs.Decode(r.body, &got) == nil && got.Acknowledged
		at, err := wire.ParseTime(got.EffectiveBy)
		slack := time.Minute // between two clocks
		p.expect(ok && err == nil && at.Sub(asked) <= time.Duration(p.info.WithdrawLatency)*time.Second+slack, "GP-WITHDRAW-001", p.origin,
			"withdrawal %d is answered %d without an acknowledgement within the published latency", n+1, r.status)
		if by = at; !ok {
			return nil
		}
		p.gone(p.ref)
	}
	wait := by.Sub(p.Now())
	if wait > maxWait {
		p.skip(fmt.Sprintf("the withdrawal takes effect in %v, and this check does not wait that long", wait.Round(time.Second)), "GP-WITHDRAW-002")
		return nil
	}
	if err := p.Pause(p.ctx, max(wait, 0)+time.Second); err != nil {
		return err
	}
	list, ok, err := p.query(p.label, 10)
	if err != nil {
		return err
	}
	if _, there := p.holds(list); ok {
		p.expect(!there, "GP-WITHDRAW-002", p.origin, "a projection is found after its withdrawal has taken effect")
	}
	if candidate == "" {
		return nil
	}
	r, err := p.resolve(candidate, p.querent)
	if err == nil && r.err == nil {
		p.expect(r.status >= 400, "GP-WITHDRAW-002", p.origin, "a candidate resolves after its projection was withdrawn")
	}
	return err
}
