package demo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// maxWire bounds what a [Wire] keeps, in bytes. A walk needs a tenth of it.
const maxWire = 32 << 20

// Wire keeps what crosses the listeners that it taps, byte for byte below HTTP, until [Wire.Stop].
type Wire struct {
	mu      sync.Mutex
	taps    []*tap // guarded by mu, with what was recorded on them
	order   int    // guarded by mu; of the pieces, over all connections
	size    int    // guarded by mu
	stopped bool   // guarded by mu
}

// Listen returns a listener whose connections are recorded under a name.
func (w *Wire) Listen(name string, l net.Listener) net.Listener { return &tapped{l, w, name} }

// Stop ends the recording; what was recorded stays.
func (w *Wire) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

type tapped struct {
	net.Listener
	wire *Wire
	name string
}

func (l *tapped) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &tap{Conn: c, wire: l.wire, name: l.name}
	l.wire.mu.Lock()
	defer l.wire.mu.Unlock()
	if !l.wire.stopped {
		l.wire.taps = append(l.wire.taps, t)
	}
	return t, nil
}

// tap is one connection. in is what the client sent, out what it was sent.
type tap struct {
	net.Conn
	wire    *Wire
	name    string
	in, out stream
}

// stream is one direction: the bytes, and after how many of them each piece ended.
type stream struct {
	data   []byte
	pieces []piece
}

type piece struct{ end, order int }

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.wire.keep(&t.in, p[:n])
	return n, err
}

// Write keeps first: who reads what was written may look at the recording at once.
func (t *tap) Write(p []byte) (int, error) {
	t.wire.keep(&t.out, p)
	return t.Conn.Write(p)
}

func (w *Wire) keep(s *stream, p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) == 0 || w.stopped || w.size+len(p) > maxWire {
		return
	}
	w.size += len(p)
	w.order++
	s.data = append(s.data, p...)
	s.pieces = append(s.pieces, piece{len(s.data), w.order})
}

// Bytes is everything that was recorded, connection by connection.
func (w *Wire) Bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []byte
	for _, t := range w.taps {
		out = append(append(out, t.in.data...), t.out.data...)
	}
	return out
}

// Exchange is one request with its answer as they crossed.
type Exchange struct {
	To           string // the name of the listener
	Method, Path string
	Body         []byte // of the request
	Status       int
	Answer       []byte

	order int
}

// Exchanges are the requests that have their answer, in the order in which these ended.
func (w *Wire) Exchanges() []Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Exchange
	for _, t := range w.taps {
		in, answers := bytes.NewReader(t.in.data), bytes.NewReader(t.out.data)
		asked, answered := bufio.NewReader(in), bufio.NewReader(answers)
		for {
			request, err := http.ReadRequest(asked)
			if err != nil {
				break
			}
			x := Exchange{To: t.name, Method: request.Method, Path: request.URL.Path}
			if x.Body, err = io.ReadAll(request.Body); err != nil {
				break
			}
			response, err := http.ReadResponse(answered, request)
			if err != nil {
				break
			}
			x.Answer, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil {
				break
			}
			x.Status, x.order = response.StatusCode, t.out.at(len(t.out.data)-answers.Len()-answered.Buffered())
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Exchange) int { return a.order - b.order })
	return out
}

// at is the order of the piece that holds the byte before offset.
func (s *stream) at(offset int) int {
	i, _ := slices.BinarySearchFunc(s.pieces, offset, func(p piece, offset int) int { return p.end - offset })
	return s.pieces[min(i, len(s.pieces)-1)].order
}

// transcript tells what crossed, each object once however often it was fetched.
type transcript struct {
	wire *Wire
	seen int             // exchanges that were told
	told map[string]bool // artifacts, by task and number
}

// next are the lines of what crossed since it was called last.
func (t *transcript) next() (lines []string) {
	all := t.wire.Exchanges()
	for _, x := range all[min(t.seen, len(all)):] {
		if strings.HasPrefix(x.Path, providerhttp.Base) {
			lines = append(lines, providerLine(&x))
			continue
		}
		lines = append(lines, t.agentLines(&x)...)
	}
	t.seen = len(all)
	return lines
}

// providerLine tells one call of a provider by what it says of the caller, which is never more than a projection.
func providerLine(x *Exchange) string {
	said := ""
	if p := member(x.Body, "projection"); p != "" {
		said = pick([]byte(p), "categories", "domains", "geographies", "relation")
	}
	path := "/" + strings.TrimPrefix(x.Path, providerhttp.Base)
	if begin, ref, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/"); ok {
		ref, rest, _ := strings.Cut(ref, "/")
		path = strings.TrimSuffix("/"+begin+"/"+briefly(ref)+"/"+rest, "/")
	}
	var page struct {
		Candidates []jcs.Raw `json:"candidates"`
	}
	answer := ""
	switch {
	case path == "/candidates" && jcs.Decode(x.Answer, &page) == nil:
		answer = fmt.Sprintf(" candidates: %d", len(page.Candidates))
	case strings.HasSuffix(path, "/resolve"):
		answer = " an endpoint"
	}
	return clip(fmt.Sprintf("-> %s: %s: %d%s", x.To, strings.TrimSpace(x.Method+" "+path+" "+said), x.Status, answer))
}

// briefly is enough of an identifier to tell it from others.
func briefly(id string) string {
	const shown = 6
	if len(id) <= shown {
		return id
	}
	return id[:shown] + "…"
}

// agentLines tell the objects of one call of an agent. A call that brought nothing new, such as a question whether there is an answer, has none.
func (t *transcript) agentLines(x *Exchange) (lines []string) {
	if object := sent(x.Body); object != nil {
		lines = append(lines, clip("-> "+x.To+": "+tell(object)))
	}
	task, artifacts := shown(x.Answer)
	for _, a := range artifacts {
		if key := task + " " + a.id; !t.told[key] {
			t.told[key] = true
			lines = append(lines, clip("<- "+x.To+": "+tell(a.object)))
		}
	}
	return lines
}

// sent is the GIDP object of a message, nil when it brings none.
func sent(body []byte) []byte {
	var call struct {
		Params struct {
			Message struct {
				Metadata map[string]jcs.Raw `json:"metadata"`
			} `json:"message"`
		} `json:"params"`
	}
	if jcs.Decode(body, &call) != nil {
		return nil
	}
	return call.Params.Message.Metadata[gidpa2a.ExtensionURI+"/object"]
}

type artifact struct {
	id     string
	object []byte
}

// shown are the GIDP objects of an answer: a task, or a task within the answer to a message.
func shown(answer []byte) (task string, out []artifact) {
	var reply struct {
		Result jcs.Raw `json:"result"`
	}
	if jcs.Decode(answer, &reply) != nil || reply.Result == nil {
		return "", nil
	}
	result := []byte(reply.Result)
	if inner := member(result, "task"); inner != "" {
		result = []byte(inner)
	}
	var held struct {
		ID        string `json:"id"`
		Artifacts []struct {
			ID       string             `json:"artifactId"`
			Metadata map[string]jcs.Raw `json:"metadata"`
		} `json:"artifacts"`
	}
	if jcs.Decode(result, &held) != nil {
		return "", nil
	}
	for _, a := range held.Artifacts {
		if object := a.Metadata[gidpa2a.ExtensionURI+"/object"]; object != nil {
			out = append(out, artifact{a.ID, object})
		}
	}
	return held.ID, out
}

// tell is one object in a line: its type, and what it says beside identifiers, times and what stands in every object of its kind.
func tell(object []byte) string {
	o, err := wire.Decode(object)
	if err != nil {
		return "an object that cannot be read"
	}
	switch o := o.(type) {
	case *wire.CompatibilityRequest:
		var claims []string
		for _, c := range o.Claims {
			claims = append(claims, fmt.Sprintf("%s %s %s", c.Key, c.Operator, c.Value))
		}
		return "CompatibilityRequest " + strings.Join(claims, " · ")
	case *wire.CompatibilityResponse:
		var results []string
		for _, r := range o.Results {
			results = append(results, fmt.Sprintf("%s %s", r.Key, r.Result))
		}
		return fmt.Sprintf("CompatibilityResponse %s: %s", o.SessionStatus, strings.Join(results, " · "))
	}
	names := map[wire.Type][]string{
		wire.TypeSessionOpen: {"purpose", "profile", "max_depth"}, wire.TypeSessionAccept: {"profile", "max_depth"}, wire.TypeSessionClose: {"reason"},
		wire.TypeConsentRequest: {"action", "scope", "binding_commitment"}, wire.TypeConsentResponse: {"status", "granted_scope"},
		wire.TypeDisclosureRequest: {"attribute", "intended_use", "requested_surface"}, wire.TypeDisclosureResponse: {"attribute", "status", "value"},
		wire.TypeOpportunity: {"evaluated_dimensions", "compatible_dimensions", "open_conditions", "contingent_on", "identity_status"},
		wire.TypeHandoff:     {"target", "authorized_scope", "requires_principal_presence"},
	}
	return string(o.Type()) + " " + pick(object, names[o.Type()]...)
}
