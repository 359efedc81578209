package gidpcheck

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/httpsig"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
)

const (
	uri        = gidpa2a.ExtensionURI
	extensions = "A2a-Extensions"
	version    = "A2a-Version"
	profileNo  = "urn:sayso:check:not-a-profile"
	maxOffers  = 5 // profiles that are tried
)

// agentCheck is one agent under one check.
type agentCheck struct {
	*checker
	base    string   // …/a2a/REF
	phantom string   // the same place with an invented reference
	active  bool     // the extension is in force
	offers  []string // profiles to open under, core first
}

// agent looks at an agent. What needs the extension is left when it is not in force.
func (c *checker) agent(base string) error {
	ref, err := c.token()
	if err != nil {
		return err
	}
	a := &agentCheck{checker: c, base: base, phantom: base[:strings.LastIndexByte(base, '/')+1] + ref, offers: []string{"core"}}
	for _, step := range []func() error{a.cards, a.versions, a.activation, a.strictness, a.methods, a.refusals, a.session} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// cards are the rules GA-CARD.
func (a *agentCheck) cards() error {
	at := a.base + cardPath
	one, err := a.send(&outgoing{method: http.MethodGet, url: at})
	if err != nil {
		return err
	}
	if one.err != nil {
		return &silence{one}
	}
	var card struct {
		Name       string `json:"name"`
		Interfaces []struct {
			URL     string `json:"url"`
			Binding string `json:"protocolBinding"`
			Version string `json:"protocolVersion"`
		} `json:"supportedInterfaces"`
		Capabilities struct {
			Extensions []struct {
				URI      string  `json:"uri"`
				Required jcs.Raw `json:"required"`
				Params   struct {
					Profiles []string `json:"profiles"`
				} `json:"params"`
			} `json:"extensions"`
		} `json:"capabilities"`
		Signatures []struct {
			Protected string `json:"protected"`
			Signature string `json:"signature"`
		} `json:"signatures"`
	}
	if !a.expect(one.status == http.StatusOK && jcs.Decode(one.body, &card) == nil, "GA-CARD-001", at, "the answer is %d and no card", one.status) {
		a.skip("there is no card", "GA-CARD-002", "GA-CARD-003", "GA-CARD-004", "GA-CARD-005")
		return nil
	}
	named, there := false, card.Name != ""
	for _, e := range card.Capabilities.Extensions {
		if e.URI != uri || string(e.Required) == "true" {
			continue
		}
		named = true
		for _, profile := range e.Params.Profiles {
			if len(a.offers) < maxOffers && profile != "" && !slices.Contains(a.offers, profile) {
				a.offers = append(a.offers, profile)
			}
		}
	}
	for _, i := range card.Interfaces {
		there = there && i.Version == "1.0" && strings.HasPrefix(i.URL, a.base+"/") && (i.Binding != "JSONRPC" || i.URL == a.base+"/rpc")
	}
	a.expect(named && there && len(card.Interfaces) > 0, "GA-CARD-001", at,
		"the card names neither the extension %s, not required, nor interfaces of version 1.0 at %s/rpc", uri, a.base)
	members, _ := jcs.Members(one.body)
	unsigned, err := jcs.Canonical(without(members, "signatures"))
	if err != nil {
		unsigned = nil
	}
	switch {
	case len(card.Signatures) == 0:
		a.warn("GA-CARD-002", at, "the card is not signed")
	case a.CardKey != nil:
		err := jws.VerifyDetached(card.Signatures[0].Protected+".."+card.Signatures[0].Signature, unsigned, a.CardKeyID, a.CardKey)
		a.expect(err == nil, "GA-CARD-002", at, "the signature does not hold: %v", err)
	default:
		head, err := jwk.DecodeBase64URL(card.Signatures[0].Protected)
		signature, wrong := jwk.DecodeBase64URL(card.Signatures[0].Signature)
		var in struct {
			Alg string `json:"alg"`
		}
		a.expect(err == nil && wrong == nil && jcs.Decode(head, &in) == nil && in.Alg == "EdDSA" && len(signature) == 64, "GA-CARD-002", at, "the signature is not one of EdDSA")
	}
	dull := bytes.ContainsFunc(one.body, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' && r != '\t' && r != '\r' })
	for _, word := range []string{`:""`, `:null`, `:{}`, `:[]`, `:false`} {
		dull = dull || bytes.Contains(compact(one.body), []byte(word))
	}
	a.expect(!dull, "GA-CARD-005", at, "the card holds text that is not ASCII, or an empty or default member")
	etag := one.header.Get("Etag")
	a.expect(strings.Contains(one.header.Get("Cache-Control"), "max-age=") && etag != "", "GA-CARD-004", at, "Cache-Control is %q and ETag %q", one.header.Get("Cache-Control"), etag)
	if etag != "" {
		again, err := a.send(&outgoing{method: http.MethodGet, url: at, header: http.Header{"If-None-Match": {etag}}})
		if err != nil {
			return err
		}
		a.hold(again, again.status == http.StatusNotModified, "GA-CARD-004", at, "If-None-Match with its own ETag is answered %d", again.status)
	}
	two, err := a.send(&outgoing{method: http.MethodGet, url: a.phantom + cardPath})
	if err != nil || two.err != nil {
		return err
	}
	others, _ := jcs.Members(two.body)
	foreign := bytes.ReplaceAll(without(others, "signatures"), []byte(a.phantom), []byte(a.base))
	a.expect(two.status == http.StatusOK && bytes.Equal(foreign, without(members, "signatures")) && len(one.body) == len(two.body) && slices.Equal(headers(one), headers(two)),
		"GA-CARD-003", a.phantom+cardPath, "the card of an invented reference is answered %d and differs", two.status)
	return nil
}

// compact is a text without insignificant white space.
func compact(data []byte) []byte {
	out, err := jcs.Canonical(data)
	if err != nil {
		return data
	}
	return out
}

// headers are the names of the header of an answer.
func headers(r *reply) []string {
	var out []string
	for name := range r.header {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// call is one JSON-RPC request to an agent.
type call struct {
	at      string   // base of the agent
	method  string   // "": SendMessage
	params  jcs.Raw  // nil: those of message
	raw     []byte   // the body in place of all that
	lines   []string // of A2A-Extensions; nil: our URI
	version []string // of A2A-Version; nil: 1.0
	key     *jwk.PrivateKey
	created time.Time
	swap    func([]byte) []byte // what is sent in the place of the body that was signed
}

// said is an answer of JSON-RPC.
type said struct {
	*reply
	result jcs.Raw // nil for a refusal
	code   int64   // of a refusal; 0: none could be read
}

// refused reports a refusal with one of the codes; none: with any.
func (s *said) refused(codes ...int64) bool {
	return s.err == nil && s.result == nil && (len(codes) == 0 || slices.Contains(codes, s.code))
}

// denied reports that a signature was not taken.
func (s *said) denied() bool {
	return s.err == nil && s.result == nil && (s.status == http.StatusUnauthorized || s.status == http.StatusForbidden)
}

// rpc sends a call. Every refusal is held to GA-LEAK.
func (a *agentCheck) rpc(k call) (*said, *outgoing, error) {
	body := k.raw
	if body == nil {
		method := k.method
		if method == "" {
			method = "SendMessage"
		}
		body = append(jcs.AppendString([]byte(`{"jsonrpc":"2.0","id":"1","method":`), method), `,"params":`...)
		body = append(append(body, k.params...), '}')
	}
	header := http.Header{version: {"1.0"}, extensions: {uri}, "Accept": {"application/json"}}
	if k.lines != nil {
		header[extensions] = k.lines
	}
	if k.version != nil {
		header[version] = k.version
	}
	if len(header[version]) == 0 {
		delete(header, version)
	}
	o := &outgoing{method: http.MethodPost, url: k.at + "/rpc", header: header, body: body, key: k.key, profile: &httpsig.Session, created: k.created}
	if k.swap != nil {
		o.swap = k.swap(body)
	}
	s, err := a.post(o)
	return s, o, err
}

// post sends a request and reads an answer of JSON-RPC.
func (a *agentCheck) post(o *outgoing) (*said, error) {
	r, err := a.send(o)
	if err != nil {
		return nil, err
	}
	s := saidOf(r)
	if r.err != nil {
		return s, nil
	}
	if s.result == nil {
		a.expect(!a.repeats(r), "GA-LEAK-001", o.url, "a refusal (%d) repeats what was sent", s.code)
	}
	return s, nil
}

// saidOf reads an answer of JSON-RPC, as far as it is one.
func saidOf(r *reply) *said {
	s := &said{reply: r}
	members, _ := jcs.Members(r.body) // what is no object has neither result nor error
	for _, m := range members {
		switch m.Name {
		case "result":
			s.result = m.Value
		case "error":
			var e struct {
				Code int64 `json:"code"`
			}
			if jcs.Decode(m.Value, &e) == nil {
				s.code = e.Code
			}
		}
	}
	return s
}

// message writes the parameters of SendMessage.
func message(id, session, task string, meta map[string]jcs.Raw) jcs.Raw {
	out := jcs.AppendString([]byte(`{"message":{"messageId":`), id)
	for _, m := range [][2]string{{"contextId", session}, {"taskId", task}} {
		if m[1] != "" {
			out = jcs.AppendString(append(append(out, `,"`...), m[0]+`":`...), m[1])
		}
	}
	out = append(out, `,"role":"ROLE_USER","parts":[{"text":"gidp"}],"extensions":["`+uri+`"]`...)
	if meta != nil {
		out = append(out, `,"metadata":{`...)
		names := make([]string, 0, len(meta))
		for name := range meta {
			names = append(names, name)
		}
		slices.Sort(names)
		for n, name := range names {
			if n > 0 {
				out = append(out, ',')
			}
			out = append(append(jcs.AppendString(out, uri+"/"+name), ':'), meta[name]...)
		}
		out = append(out, '}')
	}
	return append(out, `},"configuration":{"returnImmediately":true,"historyLength":0}}`...)
}

func named(id string) jcs.Raw { return append(jcs.AppendString([]byte(`{"id":`), id), '}') }

// versions is GA-VERSION.
func (a *agentCheck) versions() error {
	for _, v := range [][]string{{"9.9"}, {}} {
		s, _, err := a.rpc(call{at: a.base, params: message("check", "", "", nil), version: v})
		if err != nil {
			return err
		}
		a.hold(s.reply, s.refused(-32009), "GA-VERSION-001", a.base, "A2A-Version %q is answered with %d %s", v, s.code, s.kind())
	}
	return nil
}

// kind names what an answer is.
func (s *said) kind() string {
	if s.result == nil {
		return "(HTTP " + strconv.Itoa(s.status) + ")"
	}
	members, _ := jcs.Members(s.result)
	if len(members) == 1 {
		return "a " + members[0].Name
	}
	return "a result"
}

// echo is what an answer names of the extensions.
func (s *said) echo() []string {
	var out []string
	for _, line := range s.header.Values(extensions) {
		for name := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

// open is a SessionOpen with the key of a new session.
type opening struct {
	object  *wire.SessionOpen
	data    []byte
	key     *jwk.PrivateKey
	session string
}

// opening makes an open under a profile. The session lives ten minutes.
func (a *agentCheck) opening(profile string) (*opening, error) {
	session, err := a.token()
	if err != nil {
		return nil, err
	}
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	o := &opening{key: key, session: session, object: &wire.SessionOpen{Head: wire.Head{SessionID: session, ExpiresAt: a.Now().Add(10 * time.Minute)},
		RequestID: "r-1", Initiator: a.canary,
		Purpose: "check", MaxDepth: wire.DepthSession, Profile: profile, Features: []wire.Feature{}}}
	o.data, err = wire.Encode(o.object)
	return o, err
}

// params carries the open with its key.
func (o *opening) params() jcs.Raw {
	return message(o.session+":SessionOpen:r-1", o.session, "", map[string]jcs.Raw{"object": o.data, "key": jwk.EncodePublic(o.key.Public().Public)})
}

// activation is GA-HELLO, GA-EXTENSION and GA-INACTIVE.
func (a *agentCheck) activation() error {
	other := "urn:sayso:check:" + a.canary
	for n, lines := range [][]string{{uri}, {other + ", " + uri, other + "-2"}, {other}} {
		k := call{at: a.base, params: message("check", "", "", nil), lines: lines}
		var o *opening
		if n == 2 { // an object that nobody activated
			var err error
			if o, err = a.opening("core"); err != nil {
				return err
			}
			k.params, k.key = o.params(), o.key
		}
		s, _, err := a.rpc(k)
		if err != nil {
			return err
		}
		if s.err != nil {
			a.skip(unanswered(s.reply), "GA-HELLO-001", "GA-EXTENSION-001", "GA-INACTIVE-001")
			continue
		}
		plain := s.kind() == "a message" && !bytes.Contains(s.body, []byte(uri+"/"))
		if o != nil {
			a.expect(plain && len(s.echo()) == 0, "GA-INACTIVE-001", a.base, "an open without activation is answered by %s with the extensions %q", s.kind(), s.echo())
			continue
		}
		a.expect(plain, "GA-HELLO-001", a.base, "a hello is answered by %s", s.kind())
		ok := a.expect(slices.Equal(s.echo(), []string{uri}), "GA-EXTENSION-001", a.base, "A2A-Extensions %q is echoed as %q", lines, s.echo())
		a.active = a.active || ok
	}
	return nil
}

// strictness is GA-JSON and GA-BODY.
func (a *agentCheck) strictness() error {
	hello := string(message("check", "", "", nil))
	frame := func(params, more string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":` + params + `}` + more)
	}
	for _, c := range []struct {
		what string
		body []byte
	}{
		{"a name that stands twice", frame(strings.Replace(hello, `"role":`, `"r\u006fle":"ROLE_USER","role":`, 1), "")},
		{"a second value", frame(hello, " {}")},
		{"a depth of 65", frame(strings.Replace(hello, `"role":`, `"x":`+strings.Repeat("[", 65)+strings.Repeat("]", 65)+`,"role":`, 1), "")},
		{"a number beyond 2^53", frame(strings.Replace(hello, `"role":`, `"x":9007199254740993,"role":`, 1), "")},
	} {
		s, _, err := a.rpc(call{at: a.base, raw: c.body})
		if err != nil {
			return err
		}
		a.hold(s.reply, s.refused(-32700, -32600, -32602), "GA-JSON-001", a.base, "%s is answered by %s", c.what, s.kind())
	}
	s, _, err := a.rpc(call{at: a.base, raw: frame(strings.Replace(hello, `"role":`, `"x":"`+strings.Repeat("x", 256<<10)+`","role":`, 1), "")})
	if err != nil {
		return err
	}
	if s.err != nil && a.active { // it answers else, and hung up on a long body
		s.reply = &reply{}
	}
	a.hold(s.reply, s.result == nil, "GA-BODY-001", a.base, "a body of more than 256 KiB is answered by %s", s.kind())
	return nil
}

// methods is GA-METHOD.
func (a *agentCheck) methods() error {
	for _, m := range []struct {
		name   string
		params jcs.Raw
		codes  []int64
	}{
		{"ListTasks", jcs.Raw(`{}`), []int64{-32004, -32601}},
		{"GetExtendedAgentCard", jcs.Raw(`{}`), []int64{-32004, -32007, -32601}},
		{"CreateTaskPushNotificationConfig", jcs.Raw(`{"taskId":"check","url":"https://check.invalid/"}`), []int64{-32003, -32004, -32601}},
		{"Check", jcs.Raw(`{}`), []int64{-32601}},
	} {
		s, _, err := a.rpc(call{at: a.base, method: m.name, params: m.params})
		if err != nil {
			return err
		}
		a.hold(s.reply, s.refused(m.codes...) || s.denied(), "GA-METHOD-001", a.base, "%s is answered with %d %s", m.name, s.code, s.kind())
	}
	return nil
}

// refusals is GA-SIGNATURE and GA-REFUSED: opens that no agent accepts.
func (a *agentCheck) refusals() error {
	if !a.active {
		a.skip("the extension is not in force at this agent", "GA-SIGNATURE-001", "GA-SIGNATURE-002", "GA-REFUSED-001", "GA-REFUSED-002")
		return nil
	}
	for _, what := range []string{"unsigned", "altered", "signed an hour ago"} {
		o, err := a.opening(profileNo)
		if err != nil {
			return err
		}
		k := call{at: a.base, params: o.params(), key: o.key}
		switch what {
		case "unsigned":
			k.key = nil
		case "altered":
			k.swap = func(b []byte) []byte { return bytes.Replace(b, []byte(`"check"`), []byte(`"cheque"`), 1) }
		default:
			k.created = a.Now().Add(-time.Hour)
		}
		s, _, err := a.rpc(k)
		if err != nil {
			return err
		}
		a.hold(s.reply, s.denied(), "GA-SIGNATURE-001", a.base, "an open that is %s is answered by %s", what, s.kind())
	}
	var answers [2]*said
	var opens [2]*opening
	var sent *outgoing
	for n, at := range []string{a.base, a.phantom} {
		o, err := a.opening(profileNo)
		if err != nil {
			return err
		}
		var out *outgoing
		if answers[n], out, err = a.rpc(call{at: at, params: o.params(), key: o.key}); err != nil {
			return err
		}
		if opens[n] = o; n == 0 {
			sent = out
		}
		if answers[n].err != nil {
			a.skip(unanswered(answers[n].reply), "GA-REFUSED-001", "GA-REFUSED-002", "GA-SIGNATURE-002")
			return nil
		}
	}
	t := readTask(answers[0])
	ok := t != nil && t.State == "TASK_STATE_COMPLETED" && len(t.objects) == 1 && t.Artifacts[0].ID == "000001"
	if ok {
		end, is := t.objects[0].(*wire.SessionClose)
		ok = is && end.Reason == wire.ReasonUnsupported && end.RequestRef == "r-1" && end.SessionID == opens[0].session
	}
	a.expect(ok, "GA-REFUSED-001", a.base, "an open under a profile that nobody has is answered by %s %d, not by SessionClose(unsupported) in a completed task",
		answers[0].kind(), answers[0].code)
	one, two := skeleton(answers[0], opens[0].session), skeleton(answers[1], opens[1].session)
	a.expect(one == two && len(answers[0].body) == len(answers[1].body) && slices.Equal(headers(answers[0].reply), headers(answers[1].reply)), "GA-REFUSED-002", a.phantom,
		"an open at an invented reference is answered differently from a refused one")
	if apart := (answers[0].took - answers[1].took).Abs(); apart > 150*time.Millisecond && apart > max(answers[0].took, answers[1].took)/2 {
		a.warn("GA-REFUSED-002", a.phantom, "the two answers took %v and %v", answers[0].took.Round(time.Millisecond), answers[1].took.Round(time.Millisecond))
	}
	again := &outgoing{method: sent.method, url: sent.url, header: sent.header, body: sent.body, key: sent.key, kept: true}
	s, err := a.post(again)
	if err != nil {
		return err
	}
	a.hold(s.reply, s.denied(), "GA-SIGNATURE-002", a.base, "an open is taken twice under one nonce: %s", s.kind())
	return nil
}

// skeleton is an answer without what differs from session to session.
func skeleton(s *said, session string) string {
	t := readTask(s)
	if t == nil {
		return strings.ReplaceAll(string(s.body), session, "S")
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(compact(s.result)), t.ID, "T"), session, "S")
	for _, o := range t.objects {
		if o != nil {
			text = strings.ReplaceAll(text, wire.FormatTime(o.Expires()), "E")
		}
	}
	return text
}

// task is an A2A task with the objects of its artifacts.
type task struct {
	ID      string  `json:"id"`
	Context string  `json:"contextId"`
	History jcs.Raw `json:"history"`
	Status  struct {
		State   string  `json:"state"`
		Message jcs.Raw `json:"message"`
	} `json:"status"`
	Artifacts []struct {
		ID       string             `json:"artifactId"`
		Metadata map[string]jcs.Raw `json:"metadata"`
	} `json:"artifacts"`
	State   string        `json:"-"`
	objects []wire.Object // nil where an artifact has none that can be read
	raw     []string      // the objects as they came, canonically
}

// readTask reads the task of an answer; nil when there is none.
func readTask(s *said) *task {
	if s.result == nil {
		return nil
	}
	raw := s.result
	if members, err := jcs.Members(raw); err == nil && len(members) == 1 && members[0].Name == "task" {
		raw = members[0].Value
	}
	t := &task{}
	if jcs.Decode(raw, t) != nil || t.ID == "" || t.Status.State == "" {
		return nil
	}
	t.State = t.Status.State
	for _, artifact := range t.Artifacts {
		o, err := wire.Decode(artifact.Metadata[uri+"/object"])
		if err != nil {
			o = nil
		}
		t.objects = append(t.objects, o)
		t.raw = append(t.raw, string(compact(artifact.Metadata[uri+"/object"])))
	}
	return t
}
