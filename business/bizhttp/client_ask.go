package bizhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/safefetch"
)

// The bounds of one question: a verification, the handshake and the calls together.
const (
	AskRequests = 32 // redirects counted
	AskTime     = 30 * time.Second
	MaxSteps    = 5 // calls that follow a clarification
)

// AskBounds is [Bounds] with the requests of a question.
func AskBounds() safefetch.Policy {
	p := Bounds()
	p.MaxRequests = AskRequests
	return p
}

// Question is what is asked. Members that are zero are not sent.
type Question struct {
	Query    string
	Language string   // a language tag
	Criteria jcs.Raw  // an array, exactly as it is sent
	Bound    jcs.Raw  // an object: dimensions that are bound from the start
	Include  []string // "content"
	Limit    int

	// Tool is the publisher's own name of the tool to call, one of tools/list. "" takes the one that searches.
	Tool string
	// Arguments are the whole arguments, token by token, in the place of the members above; for a tool of another form.
	Arguments jcs.Raw
	// Follow holds values to give when the publisher asks back, by the name of the dimension: see [Binding].
	Follow map[string]jcs.Raw
}

// Answer is what came of a question. Envelope and Conclusion are there when a careful reader may rely on the answer, and only then: what is not usable is
// shown to nobody as an answer.
type Answer struct {
	Manifest *Result            // the manifest that named the endpoint
	Called   *business.Call     // the last call, as it was sent; nil when the manifest stood in the way
	Verdict  *business.Verdict  // about the envelope, or about the manifest when there was no call
	Document []byte             // what was judged, exactly as received
	Notes    []business.Finding // what else a reader is to know: value "noted", reason one of the Note constants

	Envelope   *coverage.Envelope
	Conclusion *coverage.Conclusion
	Unused     []string // values of Follow that nobody asked for, sorted
}

// The reasons of Answer.Notes: what a reader is to know besides the verdict.
const (
	NoteMoved       = "manifest_moved"    // the manifest came from another origin than the one that was asked (XP-DISCOVERY-006)
	NoteStructured  = "channels_differ"   // structuredContent is another value than the signed text; only the text was read
	NoteOtherResume = "resume_other_call" // the clarification continues another call than the one that was sent, and was not followed
	NoteAsksAgain   = "resume_asks_again" // it asks for what it was given, and was not followed
	NoteSteps       = "resume_too_long"   // MaxSteps values were given and the answer still waits for one
)

var notes = map[string]string{
	NoteMoved:       "the manifest was read from another origin than the one that was asked: it is another source",
	NoteStructured:  "structuredContent of the result is not the value that was signed; only the signed text was read",
	NoteOtherResume: "the publisher's resume continues another call than the one that was sent, and was not followed",
	NoteAsksAgain:   "the publisher asks for a value that it was given, and was not followed further",
	NoteSteps:       "the publisher asked back more often than this reader follows",
}

func (a *Answer) note(reason string) {
	a.Notes = append(a.Notes, business.Finding{Value: "noted", Reason: reason, Message: notes[reason]})
}

// Usable reports whether a careful reader may rely on the answer, whatever its status.
func (a *Answer) Usable() bool { return a.Conclusion != nil }

// Errors of [Ask] that are no fault of the way.
var (
	// ErrNoEndpoint says that the manifest names no MCP endpoint: the publisher answers no questions, or is not published.
	ErrNoEndpoint = errors.New("this publisher's manifest names no endpoint that answers questions")
	// ErrNoSearch says that no tool searches: none of tools/list has a handler that registry.json calls knowledge.search or hybrid.resolve.
	ErrNoSearch = errors.New("no tool of this publisher answers questions in words; name one of its tools")
)

// ToolError says that the publisher offers no tool of the name that was asked for.
type ToolError struct {
	Tool    string
	Offered []string // what tools/list has
}

func (e *ToolError) Error() string {
	return fmt.Sprintf("the publisher offers no tool %.100q; tools/list has %.64q", e.Tool, e.Offered[:min(len(e.Offered), 20)])
}

// Ask asks one publisher one question and verifies what comes back. It locates and verifies the manifest, shakes hands with the endpoint that the manifest
// names, takes the tool from tools/list (XP-TRANSPORT-001), calls it, and judges the text of the result as the answer to exactly this call by exactly this
// publisher. Where the answer waits for a value that Follow holds, the next call is made and judged the same way, up to MaxSteps times.
//
// Without Question.Tool it is the tool whose handler is knowledge.search by registry.json, the one that a registry's own ask_business calls; a publisher
// without one is asked by hybrid.resolve, which takes the same arguments.
//
// The error says that there is nothing to judge, and never says anything about the business (XP-COVERAGE-009): *TransportError, *RPCError, *ToolError,
// *business.FormatError (XP-COVERAGE-010), ErrAddress, ErrNoEndpoint, ErrNoSearch. What was judged and is not usable comes without error and without an
// envelope: its findings are in Verdict.
func Ask(ctx context.Context, at string, q Question, o Options) (*Answer, error) {
	arguments, err := q.arguments()
	if err != nil {
		return nil, err
	}
	if o.Fetch == nil {
		o.Fetch = safefetch.New(AskBounds())
		defer o.Fetch.Close()
	}
	s, end := beginFor(ctx, o, AskTime)
	defer end()
	s.kept = map[string]*business.Fetched{} // manifest and envelope rest on the same keys and lists

	manifest, err := s.manifest(at)
	if err != nil {
		return nil, err
	}
	a := &Answer{Manifest: manifest, Verdict: manifest.Verdict, Document: manifest.Document, Unused: slices.Sorted(maps.Keys(q.Follow))}
	if manifest.Source.Moved() {
		a.note(NoteMoved)
	}
	if !excused(manifest.Verdict) {
		return a, nil
	}
	s.Publisher = manifest.Verdict.Publisher
	m, err := manifest.Source.Manifest()
	if err != nil {
		return nil, err
	}
	if m.Endpoints.MCP == "" {
		return nil, ErrNoEndpoint
	}
	c, err := Connect(s.ctx, m.Endpoints.MCP, s.Options)
	if err != nil {
		return nil, err
	}
	tool, err := s.tool(c, q.Tool, m.Endpoints.Manifest)
	if err != nil {
		return nil, err
	}
	if err := s.converse(c, a, &business.Call{Tool: tool, Arguments: arguments}, q.Follow); err != nil {
		return nil, err
	}
	return a, nil
}

// manifest verifies the manifest that an address leads to.
func (s *session) manifest(at string) (*Result, error) {
	p, err := locate(at)
	if err != nil {
		return nil, err
	}
	if !p.manifest {
		return nil, &business.FormatError{Code: business.CodeUnsupported, Message: notEntry}
	}
	f, err := s.fetch(p.at)
	if err != nil {
		return nil, err
	}
	if s.Publisher == "" {
		s.Publisher = p.publisher
	}
	s.Call = nil
	r, err := s.verify(f.Body)
	if err != nil {
		return nil, err
	}
	if r.Verdict.Kind != business.KindManifest {
		return nil, &business.FormatError{Code: business.CodeUnsupported, Message: "what stands at the address of the manifest is none"}
	}
	r.Source = f
	return r, nil
}

// excused reports a manifest that leads on: nothing speaks against it but what a reader's policy could excuse. The envelope is judged by itself.
func excused(v *business.Verdict) bool {
	for reason := range strings.SplitSeq(v.Usable.Reason, ",") {
		switch reason {
		case "", "identity_unconfirmed", "revocation_not_checked", "revocation_incomplete":
		default:
			return false
		}
	}
	return true
}

// converse calls, judges, and follows what is asked back.
func (s *session) converse(c *Connection, a *Answer, call *business.Call, follow map[string]jcs.Raw) error {
	given := map[string]bool{}
	for {
		if err := s.judge(c, a, call); err != nil || !a.Usable() {
			return err
		}
		name, next, reason := step(a.Envelope.Clarification, call, follow)
		switch {
		case reason != "":
			a.note(reason)
			return nil
		case next == nil:
			return nil
		case given[name]:
			a.note(NoteAsksAgain)
			return nil
		case len(given) == MaxSteps:
			a.note(NoteSteps)
			return nil
		}
		given[name] = true
		a.Unused = slices.DeleteFunc(a.Unused, func(u string) bool { return u == name })
		call = next
	}
}

// judge makes one call and fills the answer anew.
func (s *session) judge(c *Connection, a *Answer, call *business.Call) error {
	a.Called, a.Envelope, a.Conclusion = call, nil, nil
	got, err := c.Call(s.ctx, call.Tool, call.Arguments)
	switch {
	case err != nil:
		return err
	case got.IsError:
		return c.broken("the tool reports a failure of its own instead of an answer")
	case got.Items != 1 || got.Text == nil:
		return c.broken(fmt.Sprintf("the result has %d items of content where an answer is one text", got.Items))
	}
	s.Call = call
	r, err := s.verify(got.Text)
	if err != nil {
		return err
	}
	a.Verdict, a.Document = r.Verdict, got.Text
	if r.Verdict.Kind != business.KindEnvelope {
		return &business.FormatError{Code: business.CodeUnsupported, Message: "the result of the call is no answer of this protocol"}
	}
	if got.Structured != nil && !sameValue(got.Text, got.Structured) {
		a.note(NoteStructured)
	}
	if r.Verdict.Usable.Value != "yes" {
		return nil
	}
	a.Envelope, a.Conclusion, err = coverage.Conclude(got.Text, r.Verdict)
	return err
}

// step is the call that a clarification asks for, when it asks for something that was given; nil when it waits for something else. The arguments are those
// that were sent: what a publisher says may lead to no other question.
func step(c *coverage.Clarification, sent *business.Call, follow map[string]jcs.Raw) (name string, next *business.Call, reason string) {
	if c == nil {
		return "", nil, ""
	}
	i := slices.IndexFunc(c.Missing, func(m coverage.Missing) bool { return follow[m.Name] != nil })
	if i < 0 {
		return "", nil, ""
	}
	name = c.Missing[i].Name
	resumed, err := business.Canon(c.Resume.Arguments)
	own, err2 := business.Canon(sent.Arguments)
	if err != nil || err2 != nil || c.Resume.Tool != sent.Tool || !bytes.Equal(resumed, own) {
		return name, nil, NoteOtherResume
	}
	arguments, err := withBinding(sent.Arguments, c.Resume.AddTo, name, follow[name])
	if err != nil {
		return name, nil, NoteOtherResume
	}
	return name, &business.Call{Tool: sent.Tool, Arguments: arguments}, ""
}

// withBinding sets [addTo][name] = value in arguments, every other token untouched.
func withBinding(arguments jcs.Raw, addTo, name string, value jcs.Raw) (jcs.Raw, error) {
	inner, err := business.Members(memberOf(arguments, addTo))
	if err != nil {
		return nil, err
	}
	return withMember(arguments, addTo, jcs.AppendMembers(nil, replaced(inner, name, value)))
}

// memberOf is the object in a member, {} when there is none.
func memberOf(arguments jcs.Raw, name string) jcs.Raw {
	members, err := business.Members(arguments)
	if i := slices.IndexFunc(members, func(m jcs.Member) bool { return m.Name == name }); err == nil && i >= 0 {
		return members[i].Value
	}
	return jcs.Raw("{}")
}

func withMember(arguments jcs.Raw, name string, value jcs.Raw) (jcs.Raw, error) {
	members, err := business.Members(arguments)
	if err != nil {
		return nil, err
	}
	return jcs.AppendMembers(nil, replaced(members, name, value)), nil
}

// replaced has the value under the name, in the place of the one that was there or at the end.
func replaced(members []jcs.Member, name string, value jcs.Raw) []jcs.Member {
	if i := slices.IndexFunc(members, func(m jcs.Member) bool { return m.Name == name }); i >= 0 {
		members[i].Value = value
		return members
	}
	return append(members, jcs.Member{Name: name, Value: value})
}

// sameValue reports whether two texts are one JSON value: an SDK on the way may write numbers anew.
func sameValue(a, b []byte) bool {
	x, err := business.Canon(a)
	y, err2 := business.Canon(b)
	return err == nil && err2 == nil && sameCanon(x, y)
}

// sameCanon compares two values in canonical form: members stand in one order, and only numbers have several spellings.
func sameCanon(a, b jcs.Raw) bool {
	switch {
	case bytes.Equal(a, b):
		return true
	case a[0] == '{' && b[0] == '{':
		x, err := business.Members(a)
		y, err2 := business.Members(b)
		return err == nil && err2 == nil && slices.EqualFunc(x, y, func(m, n jcs.Member) bool { return m.Name == n.Name && sameCanon(m.Value, n.Value) })
	case a[0] == '[' && b[0] == '[':
		var x, y []jcs.Raw
		err, err2 := business.Decode(a, &x), business.Decode(b, &y)
		return err == nil && err2 == nil && slices.EqualFunc(x, y, sameCanon)
	}
	x, err := jcs.Number(string(a))
	y, err2 := jcs.Number(string(b))
	return err == nil && err2 == nil && x == y
}
