package demo

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/safefetch"
)

// AnswerWalk are the inputs of WalkAnswers.
type AnswerWalk struct {
	Reader Options
	Admin  string        // origin of the private listener
	Token  string        // an operator's: the samples have delegated their editing
	Root   business.Root // that the reader pins
	Pin    string        // file with it, as it is shown

	// Client makes a client with the bounds of one question ([bizhttp.AskBounds]) that may reach the origin.
	Client func() *safefetch.Client
	Now    func() time.Time // dates the readings and judges the answers
}

// The shop with the live stream.
const shop = "hammer-and-nail"

// shelf are the readings that the walk pushes. The stream says that one is live for 300 s and withheld after 86,400 s: that of an hour ago is shown as stale.
// Two places with different counts make the stream ask which of them is meant.
var shelf = []struct {
	product, location string
	count             int
	age               time.Duration
}{
	{"drill", "northgate", 3, 0},
	{"drill", "harbour", 0, 0},
	{"screws", "northgate", 26, 0},
	{"screws", "harbour", 11, time.Hour},
}

// question is one question with what its answer has to be.
type question struct {
	title, publisher string
	query            string
	tool             string   // with arguments in the place of query
	arguments        jcs.Raw  // nil for a query
	set              []string // NAME=VALUE, given when the business asks for it
	why              string

	status  coverage.Status
	verdict string // of a proposition with this value at this place, "" for none
	value   string // the publisher's literal
	place   string
	reason  string // of something that is not answered
	missing string // the dimension that is asked for
}

var onShelf = jcs.Raw(`{"stream":"shelf_count"}`)

// questions are one of each kind that there is.
var questions = []question{
	{
		title: "A yes", publisher: "kessler-garage", query: "Do you have a courtesy car?", status: coverage.Resolved, verdict: coverage.VerdictTrue, value: "true",
		why: "The business published it, so it may be said, with the name of whoever says it. The answer is signed for exactly this call.",
	},
	{
		title: "A published no", publisher: "brightwater-opticians", query: "Do you have parking?", status: coverage.Resolved, verdict: coverage.VerdictFalse, value: "false",
		why: "The optician wrote itself that it has none. Only then is no an answer.",
	},
	{
		title: "Not in a closed list", publisher: "marina-dental", query: "Do you accept Mapfre insurance?", status: coverage.Resolved, verdict: coverage.VerdictExcluded,
		why: "The clinic declared its list complete, and says what it is complete over. In an open list, what is missing would be unknown.",
	},
	{
		title: "A price on request", publisher: "brightwater-opticians", query: "What does a glasses repair cost?", status: coverage.Resolved, verdict: coverage.VerdictDeferred, value: `"on_request"`,
		why: "That there is no fixed price is what the business says about its price: an answer, and no number that somebody made up.",
	},
	{
		title: "Two prices", publisher: "brightwater-opticians", query: "How much are contact lenses?", status: coverage.NeedsContext, reason: coverage.ReasonMissingValue, missing: "record",
		why: "Whoever got both would pick one. They are withheld, and the answer says which value would settle it.",
	},
	{
		title: "And the one that is meant", publisher: "brightwater-opticians", query: "How much are contact lenses?", set: []string{"record=product/daily"},
		status: coverage.Resolved, verdict: coverage.VerdictPublished, value: "25",
		why: "The same arguments with one value more. The reader follows no other call than its own, and verifies the second answer like the first.",
	},
	{
		title: "What nobody published", publisher: "brightwater-opticians", query: "Do you do laser eye surgery?", status: coverage.NotCovered, reason: coverage.ReasonUnknownWord,
		why: "Not published is not the same as no. There is an eye exam in the records, and a word in common is evidence for nothing.",
	},
	{
		title: "Half of a question", publisher: "hotel-alpenblick", query: "Do you have wifi and a gym?", status: coverage.Partial, verdict: coverage.VerdictTrue, value: "true", reason: coverage.ReasonUnknownWord,
		why: "What is answered may be said, and what is not has to be said with it.",
	},
	{
		title: "What stands on the shelf now", publisher: shop, tool: "live", arguments: onShelf, set: []string{"record=product/drill", "location=northgate"},
		status: coverage.Resolved, verdict: coverage.VerdictPublished, value: "3", place: "northgate",
		why: "The business asked back twice, for the product and for the branch. The answer ends when its reading does.",
	},
	{
		title: "A reading that is too old", publisher: shop, tool: "live", arguments: onShelf, set: []string{"record=product/screws", "location=harbour"},
		status: coverage.Partial, verdict: coverage.VerdictPublished, value: "11", place: "harbour", reason: coverage.ReasonStale,
		why: "The count is shown with its time, and never as what is so now: the business itself said how long a reading holds.",
	},
	{
		title: "The nearest of 1,565", publisher: "open-stores", query: "Which store is nearest?", set: []string{"caller_location=44.98,-93.27"},
		status: coverage.Resolved, verdict: coverage.VerdictPublished, place: "8918",
		why: "The position was asked for, is sent in this call alone, and is never guessed from an address.",
	},
	{
		title: "In German", publisher: "hotel-alpenblick", query: "Was kostet ein Doppelzimmer?", status: coverage.Resolved, verdict: coverage.VerdictPublished, value: "120",
		why: "The hotel publishes in English and German, and its words are its own: nothing was translated.",
	},
	{
		title: "In Spanish", publisher: "marina-dental", query: "¿Cuánto cuesta una limpieza dental?", status: coverage.Resolved, verdict: coverage.VerdictPublished, value: "70",
		why: "The number is the one that stands in the record, in the currency that the clinic states beside it. Nothing was converted.",
	},
}

// WalkAnswers asks the sample businesses as a careful reader does, and shows what may be said and what may not. The error is of the context.
func WalkAnswers(ctx context.Context, o AnswerWalk, show func(Step)) error {
	admin := newOffice(ctx, o.Admin)
	defer admin.close()
	w := &answerWalk{walk: walk{ctx: ctx, Options: o.Reader}, AnswerWalk: o, admin: admin}
	steps := []func(*Step){w.push}
	for i := range questions {
		steps = append(steps, func(s *Step) { w.question(s, &questions[i]) })
	}
	return w.take(show, append(steps, w.plain, w.tampered, w.door)...)
}

type answerWalk struct {
	walk
	AnswerWalk
	admin    *office
	envelope []byte // of the call without a client
}

func (w *answerWalk) push(s *Step) {
	s.Title = "Readings from the shelves"
	s.Why = "Three of now and one of an hour ago, under the instants they were seen at. Nobody renews them while the demo serves: after 300 s all are stale, and the answers say so."
	var lines []string
	for _, r := range shelf {
		lines = append(lines, fmt.Sprintf(`{"stream":"shelf_count","subject":{"type":"product","id":%q},"location":%q,"value":%d,"observed_at":%q}`,
			r.product, r.location, r.count, w.Now().Add(-r.age).UTC().Format(time.RFC3339Nano)))
	}
	shown := fmt.Sprintf("%d lines, such as %s", len(lines), lines[0])
	body := w.admin.send(s, w.Token, "/publishers/"+shop+"/live", "application/x-ndjson", []byte(strings.Join(lines, "\n")), shown, http.StatusOK, "accepted", "refused", "at")
	s.expect(member(body, "accepted") == fmt.Sprint(len(shelf)), "%d readings were not accepted", len(shelf))
}

// question asks with the careful reader of package bizhttp, and holds the answer to what it has to be.
func (w *answerWalk) question(s *Step, q *question) {
	s.Title, s.Why, s.Request = q.title, q.why, clip(q.command(w.Origin))
	asked := bizhttp.Question{Query: q.query, Tool: q.tool, Arguments: q.arguments, Follow: map[string]jcs.Raw{}}
	for _, set := range q.set {
		name, value, _ := strings.Cut(set, "=")
		bound, err := bizhttp.Binding(name, value)
		s.expect(err == nil, "%s: %v", set, err)
		asked.Follow[name] = bound
	}
	fetch := w.Client()
	defer fetch.Close()
	a, err := bizhttp.Ask(w.ctx, w.Origin+"/b/"+q.publisher, asked, bizhttp.Options{Fetch: fetch, Clock: w.Now, Root: &w.Root})
	if err != nil {
		s.expect(false, "there is no answer: %v", err)
		return
	}
	if a.Usable() {
		s.conclude(a.Conclusion)
		q.check(s, a)
	}
	s.findings(a.Verdict)
}

// command is what a person types for it, with the pin in the variable that the heading names.
func (q *question) command(origin string) string {
	words := []string{"sayso ask", origin + "/b/" + q.publisher}
	if q.tool == "" {
		words = append(words, `"`+q.query+`"`)
	} else {
		words = append(words, "--tool", q.tool, "--arguments", "'"+string(q.arguments)+"'")
	}
	for _, set := range q.set {
		words = append(words, "--set", set)
	}
	return strings.Join(append(words, `--root "$ROOT"`), " ")
}

// maxSaid is how many statements of an answer a step shows.
const maxSaid = 3

// conclude shows what a reader may tell people, in the words of the command ask.
func (s *Step) conclude(c *coverage.Conclusion) {
	s.Answer = append(s.Answer, clip("status "+string(c.Status)), clip(c.Sentence))
	for _, said := range c.Statements[:min(len(c.Statements), maxSaid)] {
		s.Answer = append(s.Answer, clip("- "+said))
	}
	if len(c.NotAnswered) > 0 {
		s.Answer = append(s.Answer, clip("not answered: "+strings.Join(c.NotAnswered, "; ")))
	}
	for _, choice := range c.Choices {
		s.Answer = append(s.Answer, clip(choice.Ask))
	}
}

// good is the line of findings of an answer that may be used.
const good = "signature valid · identity confirmed · authority current · revocation clean"

// findings shows the four findings, and expects that all of them, the call and the verdict are good.
func (s *Step) findings(v *business.Verdict) {
	line := fmt.Sprintf("signature %s · identity %s · authority %s · revocation %s", v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value)
	s.Answer = append(s.Answer, clip(line))
	s.expect(line == good, "not every finding is good")
	s.expect(v.Call.Value == "match", "it is not the answer to this call")
	s.expect(v.Usable.Value == "yes", "no answer may be taken from what came back: %s", v.Usable.Reason)
}

// check compares an answer with what it has to be.
func (q *question) check(s *Step, a *bizhttp.Answer) {
	c := a.Envelope.Coverage
	s.expect(c.Status == q.status, "the status is %s, not %s", c.Status, q.status)
	s.expect(q.verdict == "" || slices.ContainsFunc(c.Propositions, func(p coverage.Proposition) bool {
		return p.Verdict == q.verdict && string(p.PublisherValue) == q.value && p.Subject.Location == q.place
	}), "the answer does not have %s %s %s", q.verdict, q.value, q.place)
	s.expect(q.reason == "" || slices.ContainsFunc(c.Unresolved, func(g coverage.Gap) bool { return g.Reason == q.reason }), "nothing is unresolved because of %s", q.reason)
	s.expect(q.missing == "" || a.Envelope.Clarification != nil && slices.ContainsFunc(a.Envelope.Clarification.Missing, func(m coverage.Missing) bool {
		return m.Name == q.missing
	}), "%s is not asked for", q.missing)
	s.expect(len(a.Unused) == 0, "nobody asked for %s", strings.Join(a.Unused, ", "))
	for _, n := range a.Notes {
		s.expect(false, "%s", n.Message)
	}
}

// The question of the last steps, as arguments and as the price in the answer.
const (
	exam      = `{"query":"How much is an eye exam?"}`
	optician  = "brightwater-opticians"
	examPrice = `"publisher_value":30`
)

func (w *answerWalk) plain(s *Step) {
	s.Title, s.Why = "Without a client of ours", "MCP over HTTP, one request and no session. The text of the result is the signed document: any program can keep it, hand it on and verify it."
	w.envelope = w.call(s, "/t/"+optician+"/mcp", "search", exam)
	s.Answer = append(s.Answer, clip("200 "+pick(w.envelope, "tool", "arguments")), clip(told(w.envelope)))
	s.expect(statusOf(w.envelope) == coverage.Resolved, "the status is not resolved")
	s.expect(bytes.Contains(w.envelope, []byte(examPrice)), "the price is not 30")
	w.judge(s, w.envelope, optician, &business.Call{Tool: "search", Arguments: []byte(exam)})
}

func (w *answerWalk) tampered(s *Step) {
	s.Title, s.Why = "The same answer, changed on the way", "10 less for an eye exam, everywhere it stands. The publisher's key did not sign that, and nothing of it is shown as an answer."
	changed := []byte(strings.NewReplacer(`"price":30`, `"price":20`, `"value":30`, `"value":20`, examPrice, `"publisher_value":20`).Replace(string(w.envelope)))
	s.expect(len(changed) > 0 && !bytes.Equal(changed, w.envelope), "there was nothing to change")
	s.Body = clip(told(changed))
	w.command(s, changed, 1, "verify", "-", "--root", w.Pin, "--allow-loopback")
	s.finds("signature invalid", "usable no")
}

func (w *answerWalk) door(s *Step) {
	s.Title, s.Why = "At the registry's front door", "One endpoint for every business. It hands the question on and the signed envelope back: it adds no fact, and the reader verifies the business's own signature."
	const slug, asked = "marina-dental", `{"query":"How much is home whitening?"}`
	body := w.call(s, "/mcp", "ask_business", `{"publisher":"`+slug+`",`+asked[1:])
	call, envelope := []byte(member(body, "call")), []byte(member(body, "envelope"))
	s.Answer = append(s.Answer, clip("200 "+pick(body, "publisher", "call")), clip(told(envelope)))
	s.expect(statusOf(envelope) == coverage.Resolved, "the status is not resolved")
	s.expect(bytes.Contains(envelope, []byte(`"publisher_value":180`)), "the price is not 180")
	w.judge(s, envelope, slug, &business.Call{Tool: text(call, "tool"), Arguments: []byte(asked)})
}

// call calls a tool with one POST, and returns the text of its result.
func (w *answerWalk) call(s *Step, path, tool, arguments string) []byte {
	return w.tool(s, path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
}

// told is the telling part of an envelope with one record: its status, what it says, and who signed it until when.
func told(envelope []byte) string {
	var result struct {
		Records []jcs.Raw `json:"records"`
	}
	if jcs.Decode([]byte(member(envelope, "result")), &result) != nil || len(result.Records) != 1 {
		return "there is not one record in it"
	}
	return pick([]byte(member(envelope, "coverage")), "status") + " " + pick(result.Records[0], "title", "attributes") + " " + pick(envelope, "expires_at", "signing_kid")
}

func statusOf(envelope []byte) coverage.Status {
	return coverage.Status(text([]byte(member(envelope, "coverage")), "status"))
}

// judge verifies an envelope as the answer of a publisher to a call.
func (w *answerWalk) judge(s *Step, envelope []byte, publisher string, call *business.Call) {
	fetch := w.Client()
	defer fetch.Close()
	r, err := bizhttp.VerifyDocument(w.ctx, envelope, bizhttp.Options{Fetch: fetch, Clock: w.Now, Root: &w.Root, Publisher: publisher, Call: call})
	if err != nil {
		s.expect(false, "what came back is no answer: %v", err)
		return
	}
	s.findings(r.Verdict)
}
