package demo

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/facts"
	"sayso/jcs"
	"sayso/report"
	"sayso/safefetch"
)

// maxLine is the longest line of an answer, in characters.
const maxLine = 190

// Step is one step of the walk.
type Step struct {
	Title   string   `json:"title"`
	Request string   `json:"request"`        // GET URL, POST URL or a command line
	Body    string   `json:"body,omitempty"` // what was sent with it
	Answer  []string `json:"answer"`         // the telling part, as received
	Why     string   `json:"why"`
	Problem string   `json:"problem,omitempty"` // what was not as told
}

// Command runs one command of the program: its arguments, its standard input, and what came of it.
type Command func(args []string, in []byte) (out string, exit int)

// Options are the inputs of Walk.
type Options struct {
	Origin string
	Fetch  *safefetch.Client // may reach the origin
	Run    Command
}

// Keys of the samples that the walk asks for.
const (
	allowance  = "uk/income-tax/personal-allowance"
	apprentice = "uk/minimum-wage/apprentice"
	benefit    = "uk/child-benefit/eldest-child"
	majority   = "fr/geopolitique/age-majorite"
	python     = "eol/python/3.14"
)

// Walk takes a reader's steps through the figures and shows each when it is done. The error is of the context.
func Walk(ctx context.Context, o Options, show func(Step)) error {
	w := &walk{ctx: ctx, Options: o}
	return w.take(show, w.get, w.stale, w.asOf, w.notHeld, w.miss, w.batch, w.resolve, w.changed, w.verify, w.tampered, w.forged, w.mcp)
}

// take runs steps in order.
func (w *walk) take(show func(Step), steps ...func(*Step)) error {
	for _, step := range steps {
		s := Step{Answer: []string{}}
		step(&s)
		if err := w.ctx.Err(); err != nil {
			return err
		}
		show(s)
	}
	return nil
}

type walk struct {
	Options
	ctx    context.Context
	record []byte // of the first step
}

func (w *walk) get(s *Step) {
	s.Title, s.Why = "A figure", "The value comes with its source, the day it was last checked, and a signature: nobody has to quote it from memory."
	w.record = w.fetch(s, "/f/"+allowance, http.StatusOK, "value", "unit", "period", "source", "verifiedDate", "status")
	s.expect(member(w.record, "value") == "12570", "the value is not 12570")
	s.expect(member(w.record, "signature") != "", "the record is not signed")
}

func (w *walk) stale(s *Step) {
	s.Title, s.Why = "A figure that must be recent", "The reader says how old a check may be. An older one is still answered, but never silently: status says stale."
	body := w.fetch(s, "/f/"+allowance+"?max_age=7d", http.StatusOK, "value", "status", "ageDays", "maxAgeDays", "verifiedDate")
	s.expect(member(body, "status") == `"stale"`, "status is not stale")
}

func (w *walk) asOf(s *Step) {
	s.Title, s.Why = "The figure of another day", "The value that was in force on that day, not today's under an old label."
	body := w.fetch(s, "/f/"+apprentice+"?as_of=2025-06-01", http.StatusOK, "value", "unit", "period", "effectiveFrom", "effectiveTo")
	s.expect(member(body, "value") == "7.55", "the value is not 7.55")
}

func (w *walk) notHeld(s *Step) {
	s.Title, s.Why = "A period that is not held", "No guess across a gap: the answer names the periods that are held instead."
	body := w.fetch(s, "/f/"+apprentice+"?period=1999-00", http.StatusOK, "covered", "reason", "periodsHeld")
	s.expect(member(body, "covered") == "false", "covered is not false")
}

func (w *walk) miss(s *Step) {
	s.Title, s.Why = "A key that does not exist", "A near miss is 404 with candidates: a wrong figure is never served for a misspelt key."
	body := w.fetch(s, "/f/uk/minimum-wage/aprentice", http.StatusNotFound)
	s.Answer = append(s.Answer, clip("404 "+pick(body, "error", "requestedKey")))
	keys := w.candidates(s, body)
	s.expect(slices.Contains(keys, apprentice), "%s is not among the candidates", apprentice)
}

func (w *walk) batch(s *Step) {
	s.Title, s.Why = "Several figures at once", "One answer, in the order asked; every record keeps its own hash and signature."
	body := w.post(s, "/f", fmt.Sprintf(`{"keys":["%s","%s","%s"]}`, benefit, majority, python), nil)
	var doc struct {
		Results []jcs.Raw `json:"results"`
	}
	s.expect(jcs.Decode(body, &doc) == nil && len(doc.Results) == 3, "the batch does not hold three records")
	for _, r := range doc.Results {
		s.Answer = append(s.Answer, clip(pick(r, "key", "value", "unit", "verifiedDate")))
		s.expect(member(r, "signature") != "", "a record of the batch is not signed")
	}
}

func (w *walk) resolve(s *Step) {
	s.Title, s.Why = "A question in plain words", "The ranking follows from published rules. One key that fits clearly is answered as best; several are left to the reader."
	body := w.fetch(s, "/f/resolve?q=child+benefit+for+the+eldest+child&limit=3", http.StatusOK)
	keys := w.candidates(s, body)
	s.expect(len(keys) > 0 && keys[0] == benefit, "%s is not the first candidate", benefit)
	s.expect(member(body, "best") != "", "no key was clear enough to be best")
}

// candidates shows the candidates of a miss or a resolution.
func (w *walk) candidates(s *Step, body []byte) (keys []string) {
	var doc struct {
		Candidates []jcs.Raw `json:"candidates"`
	}
	s.expect(jcs.Decode(body, &doc) == nil, "the answer cannot be read")
	for i, c := range doc.Candidates {
		if i < 3 {
			s.Answer = append(s.Answer, clip(pick(c, "key", "label", "score")))
		}
		keys = append(keys, strings.Trim(member(c, "key"), `"`))
	}
	return keys
}

func (w *walk) changed(s *Step) {
	s.Title, s.Why = "What changed since a day", "Entries are linked by hashes, so that a history that was edited later does not fit its head any more."
	body := w.fetch(s, "/changes.json?since=2020-01-01&limit=2", http.StatusOK)
	var doc struct {
		Entries []jcs.Raw `json:"entries"`
	}
	s.expect(jcs.Decode(body, &doc) == nil && len(doc.Entries) == 2, "the answer does not hold two entries")
	for _, e := range doc.Entries {
		s.Answer = append(s.Answer, clip(pick(e, "factKey", "from", "to", "verifiedDate", "prevHash")))
	}
	s.expect(member(body, "chainHead") != "", "there is no chain head")
}

func (w *walk) verify(s *Step) {
	s.Title, s.Why = "Verification in four parts", "Four answers, never one green tick. A valid signature means that this publisher said so, not that the figure is true."
	w.command(s, nil, 0, "verify", w.Origin+"/f/"+allowance, "--require-signature")
	for _, line := range []string{"hash valid", "signature valid", "key acceptable yes", "claim current current"} {
		s.expect(slices.Contains(s.Answer, line), "%q was not printed", line)
	}
}

func (w *walk) tampered(s *Step) {
	s.Title, s.Why = "A record that was changed on the way", "One digit more, and the hash no longer fits what is claimed. Exit code 1: a script stops here."
	changed := replace(w.record, "value", "12571")
	s.Body = clip(pick(changed, "key", "value", "hash"))
	w.command(s, changed, 1, "verify", "-", "--allow-loopback")
	s.expect(slices.Contains(s.Answer, "hash invalid"), "the hash was not refused")
}

func (w *walk) forged(s *Step) {
	s.Title, s.Why = "A forger who recomputes the hash", "The hash fits again, but only the publisher's key can sign it."
	changed := replace(w.record, "value", "12571")
	if record, err := facts.ParseRecord(changed); err == nil {
		changed = replace(changed, "hash", `"`+record.ComputeHash()+`"`)
	}
	s.Body = clip(pick(changed, "key", "value", "hash"))
	w.command(s, changed, 1, "verify", "-", "--allow-loopback")
	s.expect(slices.Contains(s.Answer, "hash valid") && slices.Contains(s.Answer, "signature invalid"), "the signature was not refused")
}

func (w *walk) mcp(s *Step) {
	s.Title, s.Why = "An assistant asks", "The same record, byte for byte, as a tool result: an assistant quotes a checked figure instead of remembering one."
	record := w.tool(s, "/api/mcp/facts", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_fact","arguments":{"key":"`+python+`"}}}`)
	if record == nil {
		return
	}
	s.Answer = append(s.Answer, clip(pick(record, "key", "value", "source", "verifiedDate", "status")))
	served, err := w.Fetch.Get(w.ctx, w.Origin+"/f/"+python)
	s.expect(err == nil && bytes.Equal(served.Body, record), "the tool's record is not the one that HTTP serves")
}

// tool posts a tool call and returns the text of its result, nil when the tool did not answer.
func (w *walk) tool(s *Step, path, call string) []byte {
	body := w.post(s, path, call, http.Header{"Mcp-Protocol-Version": {"2025-11-25"}})
	var doc struct {
		Result struct {
			IsError bool `json:"isError"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if jcs.Decode(body, &doc) != nil || doc.Result.IsError || len(doc.Result.Content) != 1 {
		s.expect(false, "the tool did not answer")
		return nil
	}
	return []byte(doc.Result.Content[0].Text)
}

// fetch gets a path and shows members of the answer, when some are named.
func (w *walk) fetch(s *Step, path string, status int, members ...string) []byte {
	s.Request = "GET " + w.Origin + path
	r, err := w.Fetch.Do(w.ctx, safefetch.Request{URL: w.Origin + path, Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		s.expect(false, "%v", err)
		return nil
	}
	s.expect(r.Status == status, "the status is %d, not %d", r.Status, status)
	if len(members) > 0 {
		s.Answer = append(s.Answer, clip(fmt.Sprintf("%d %s", r.Status, pick(r.Body, members...))))
	}
	return r.Body
}

func (w *walk) post(s *Step, path, body string, header http.Header) []byte {
	s.Request, s.Body = "POST "+w.Origin+path, body
	all := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	for name, values := range header {
		all[name] = values
	}
	r, err := w.Fetch.Do(w.ctx, safefetch.Request{Method: http.MethodPost, URL: w.Origin + path, Header: all, Body: strings.NewReader(body)})
	if err != nil {
		s.expect(false, "%v", err)
		return nil
	}
	s.expect(r.Status == http.StatusOK, "the status is %d, not 200", r.Status)
	return r.Body
}

// command runs the program itself.
func (w *walk) command(s *Step, in []byte, exit int, args ...string) {
	s.Request = clip("sayso " + strings.Join(args, " "))
	out, code := w.Run(args, in)
	for line := range strings.Lines(out) {
		s.Answer = append(s.Answer, clip(strings.TrimRight(line, "\n")))
	}
	s.Answer = append(s.Answer, fmt.Sprintf("exit %d", code))
	s.expect(code == exit, "the exit code is %d, not %d", code, exit)
}

// expect keeps the first problem of a step.
func (s *Step) expect(ok bool, format string, args ...any) {
	if !ok && s.Problem == "" {
		s.Problem = clip(fmt.Sprintf(format, args...))
	}
}

// pick is an object of the named members alone, as received.
func pick(object []byte, names ...string) string {
	members, err := jcs.Members(object)
	if err != nil {
		return string(object)
	}
	var b bytes.Buffer
	for _, name := range names {
		for _, m := range members {
			if m.Name == name {
				fmt.Fprintf(&b, `,"%s":%s`, name, m.Value)
			}
		}
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// member is the text of one member, "" when there is none.
func member(object []byte, name string) string {
	members, err := jcs.Members(object)
	if err != nil {
		return ""
	}
	for _, m := range members {
		if m.Name == name {
			return string(m.Value)
		}
	}
	return ""
}

// replace is the object with another value for one member.
func replace(object []byte, name, value string) []byte {
	members, err := jcs.Members(object)
	if err != nil {
		return object
	}
	var b bytes.Buffer
	for _, m := range members {
		text := []byte(m.Value)
		if m.Name == name {
			text = []byte(value)
		}
		fmt.Fprintf(&b, `,"%s":%s`, m.Name, text)
	}
	return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}")
}

// clip cuts a text to one line of at most maxLine characters.
func clip(text string) string {
	text = report.Clean(text)
	if utf8.RuneCountInString(text) <= maxLine {
		return text
	}
	return string([]rune(text)[:maxLine-2]) + " …"
}
