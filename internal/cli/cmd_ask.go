package cli

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/report"
)

func init() { register("", newAsk) }

// asking holds the flags of ask.
type asking struct {
	tool, arguments, language, root   string
	set                               []string
	content                           bool
	limit                             int
	acceptUnconfirmed, acceptUnlisted bool
}

func newAsk(e *env) *cobra.Command {
	var k asking
	c := &cobra.Command{
		Use:   "ask URL|HOST QUESTION",
		Short: "Ask a business a question, and verify the answer before it is shown",
		Long: "Ask finds the manifest of a business, verifies it, calls the tool that answers questions in words, and verifies that what comes back is this business's " +
			"answer to exactly this call. URL is its host, profile, manifest or MCP endpoint.\n\n" +
			"It prints what may be said from the answer, by rules of its own; then one line for each finding, as verify does; then how to go on. What is quoted is the business's or " +
			"yours: data, whatever it says. An answer that is not usable is not shown at all, only what speaks against it. That a business publishes nothing about a question never means no.\n\n" +
			"When the answer depends on a value that you have not given, it says which, and --set gives it: location=northgate, record=service/eye-test, date=2026-12-01, " +
			"caller_location=52.5,13.4. The position is sent in that call only, and never guessed. Up to " + strconv.Itoa(bizhttp.MaxSteps) + " values are given one after the other, each answer verified.\n\n" +
			"Identity is confirmed only against a root that you pinned: give the registry's root.pub.json with --root, and get it over another way than from the registry. Without it an answer is " +
			"usable only with --accept-unconfirmed, and then says no more than that somebody says so.\n\n" +
			"Exit 0 with a usable answer whatever its status, also when nothing is published about the question; 1 when the answer is not usable, 2 a call that the business refuses as " +
			"malformed, 3 no such business, or none that answers questions, 5 when something could not be reached.",
		Example: "  sayso ask https://registry.example/b/brightwater-opticians \"How much is an eye test?\" --root root.pub.json\n" +
			"  sayso ask opticians.example \"When are you open on Sunday?\" --set location=northgate --root root.pub.json\n" +
			"  sayso ask opticians.example --tool nearest_branch --arguments '{\"limit\": 1}' --set caller_location=52.5,13.4 --root root.pub.json --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return usageError("the question came in %d pieces", len(args)-1).withHint("put it in quotation marks: sayso ask %s %s", args[0], shellWord(strings.Join(args[1:], " ")))
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			question := ""
			if len(args) == 2 {
				question = args[1]
			}
			return e.askBusiness(args[0], question, &k)
		},
	}
	flags := c.Flags()
	flags.StringVar(&k.tool, "tool", "", "the business's own name of the tool to call (default: the one that answers questions in words)")
	flags.StringArrayVar(&k.set, "set", nil, "a value to give when it is asked for, NAME=VALUE; may be repeated")
	flags.StringVar(&k.arguments, "arguments", "", "the arguments of --tool as a JSON object, in the place of QUESTION, sent token by token")
	flags.StringVar(&k.language, "language", "", "the language of the question, such as de (default: the business finds out)")
	flags.BoolVar(&k.content, "content", false, "ask for summary and content of the records too")
	flags.IntVar(&k.limit, "limit", 0, "at most this many records (default: the business's own)")
	flags.StringVar(&k.root, "root", "", "the pinned root, a public JWK; without it identity stays unconfirmed")
	flags.BoolVar(&k.acceptUnconfirmed, "accept-unconfirmed", false, "usable although no root is pinned")
	flags.BoolVar(&k.acceptUnlisted, "accept-unlisted", false, "usable although no list could be checked")
	return c
}

// askedAnswer is the answer of ask as JSON. What may be said, the status and the envelope are there for a usable answer only.
type askedAnswer struct {
	PermittedConclusion string          `json:"permitted_conclusion,omitempty"`
	Status              coverage.Status `json:"status,omitempty"`
	Unresolved          []coverage.Gap  `json:"unresolved,omitzero"`
	Findings            askFindings     `json:"findings"`
	Call                *callMade       `json:"call,omitempty"`
	Envelope            jcs.Raw         `json:"envelope,omitempty"`
}

// askFindings are those about the envelope, or about the manifest where that stood in the way of a call.
type askFindings struct {
	business.Verdict
	Source string             `json:"source"` // the manifest that was read
	Notes  []business.Finding `json:"notes,omitempty"`
}

type callMade struct {
	Tool      string  `json:"tool"`
	Arguments jcs.Raw `json:"arguments"`
}

func newAskedAnswer(a *bizhttp.Answer) *askedAnswer {
	out := &askedAnswer{Findings: askFindings{*a.Verdict, a.Manifest.Source.URL, a.Notes}}
	if a.Called != nil {
		out.Call = &callMade{a.Called.Tool, a.Called.Arguments}
	}
	if a.Usable() {
		out.PermittedConclusion, out.Status, out.Unresolved = a.Conclusion.Text(), a.Conclusion.Status, append([]coverage.Gap{}, a.Envelope.Coverage.Unresolved...)
		out.Envelope = a.Document
	}
	return out
}

func (e *env) askBusiness(at, question string, k *asking) error {
	q, err := k.question(question)
	if err != nil {
		return err
	}
	o := bizhttp.Options{Fetch: businessFetch(bizhttp.AskBounds(), typedAddress(at)), AcceptUnknown: k.acceptUnconfirmed, AcceptUnlisted: k.acceptUnlisted}
	if o.Root, err = readRoot(k.root); err != nil {
		return err
	}
	a, err := bizhttp.Ask(e.ctx, at, *q, o)
	if err != nil {
		return askFailure(at, err)
	}
	if err := e.answer(newAskedAnswer(a), func(w io.Writer) error { return writeAsked(w, a, goOn(at, question, k)) }); err != nil {
		return err
	}
	if k.root == "" && a.Verdict.Identity.Reason == "no_pinned_root" {
		e.note("note: pin the root of the registry with --root root.pub.json, and get that file over another way than from the registry")
	}
	for _, name := range a.Unused {
		e.note("note: nothing asked for --set %s", name)
	}
	if !a.Usable() {
		return answered(verdictCode(a.Verdict))
	}
	return nil
}

// question reads the flags.
func (k *asking) question(text string) (*bizhttp.Question, error) {
	q := &bizhttp.Question{Query: text, Language: k.language, Limit: k.limit, Tool: k.tool, Follow: map[string]jcs.Raw{}}
	if k.content {
		q.Include = []string{"content"}
	}
	switch {
	case k.arguments == "" && strings.TrimSpace(text) == "":
		return nil, usageError("there is no question").withHint("write it behind the address, in quotation marks")
	case k.arguments != "" && (text != "" || k.language != "" || k.content || k.limit != 0):
		return nil, usageError("--arguments are the whole call: a question and its flags do not go with them")
	case k.arguments != "":
		if k.tool == "" {
			return nil, usageError("--arguments are those of a tool: name it with --tool")
		}
		if _, err := business.Members([]byte(k.arguments)); err != nil {
			return nil, usageError("--arguments is no JSON object: %v", err)
		}
		q.Arguments = jcs.Raw(k.arguments)
	}
	for _, set := range k.set {
		name, value, ok := strings.Cut(set, "=")
		if !ok || name == "" || value == "" {
			return nil, usageError("--set %q is not NAME=VALUE", set)
		}
		if q.Follow[name] != nil {
			return nil, usageError("--set %s stands twice", name)
		}
		bound, err := bizhttp.Binding(name, value)
		if err != nil {
			return nil, usageError("--set %s: %v", set, err)
		}
		q.Follow[name] = bound
	}
	return q, nil
}

// typedAddress is what the person typed as a URL: a loopback host typed without a scheme is reached over http.
func typedAddress(at string) string {
	if strings.Contains(at, "://") {
		return at
	}
	return "http://" + at
}

// askFailure says why there is nothing to judge: the way, the call, or that nobody of this name answers questions. None of it is said of the business, and what
// its server says stands in quotation marks, for people and for models alike (XP-COVERAGE-012).
func askFailure(at string, err error) error {
	var rpc *bizhttp.RPCError
	var tool *bizhttp.ToolError
	switch {
	case errors.As(err, &tool):
		return usageError("the business offers no tool %q", report.Clean(shorten(tool.Tool, 64))).withHint("it offers %s", offered(tool.Offered))
	case errors.As(err, &rpc) && rpc.Code == -32602:
		f := usageError("the business refuses the call: %q", shorten(rpc.Message, 300))
		f.reason = rpcReason(rpc)
		return f
	case errors.As(err, &rpc):
		return unavailableError("the business's endpoint failed: %q (JSON-RPC %d); that says nothing about the business", shorten(rpc.Message, 300), rpc.Code)
	case errors.Is(err, bizhttp.ErrNoEndpoint), errors.Is(err, bizhttp.ErrNoSearch):
		return notFoundError("%s: %v", at, err)
	}
	return businessFailure(at, err)
}

func offered(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	shown := make([]string, 0, 20)
	for _, name := range names[:min(len(names), 20)] {
		shown = append(shown, report.Clean(shorten(name, 64)))
	}
	return strings.Join(shown, ", ")
}

// rpcReason is the machine code of a refused call, "" when it carries none of the form that codes have.
func rpcReason(e *bizhttp.RPCError) string {
	var data struct {
		Code string `json:"code"`
	}
	if business.Decode(e.Data, &data) != nil || len(data.Code) > 40 || strings.Trim(data.Code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return data.Code
}

// writeAsked prints what may be said, the findings, and how to go on. goOn makes the command that gives one value.
func writeAsked(w io.Writer, a *bizhttp.Answer, goOn func(name, value string) string) error {
	p := &printer{w: w}
	if a.Usable() {
		p.line("%s\n", a.Conclusion.Text())
	} else {
		p.line("No answer may be taken from what came back.\n")
	}
	v := verdict{*a.Verdict, a.Manifest.Source.URL}
	if p.err == nil {
		p.err = v.write(w)
	}
	for _, n := range a.Notes {
		p.line("note: %s", n.Message)
	}
	if a.Usable() {
		writeChoices(p, a.Conclusion.Choices, goOn)
	}
	return p.err
}

// maxCommands is how many commands are printed for one choice.
const maxCommands = 10

func writeChoices(p *printer, choices []coverage.Choice, goOn func(name, value string) string) {
	for i, choice := range choices {
		if i == 0 {
			p.line("\nto go on:")
		}
		values := []string{map[string]string{"date": "YYYY-MM-DD", "geo": "LATITUDE,LONGITUDE"}[choice.Type]} // to be filled in: a real value would be asked with
		if len(choice.Options) > 0 {
			values = values[:0]
		}
		for _, o := range choice.Options[:min(len(choice.Options), maxCommands)] {
			values = append(values, o.Value)
		}
		for _, value := range values {
			if command := goOn(choice.Name, value); command != "" {
				p.line("  %s", command)
			}
		}
	}
}

// goOn makes the command line that asks again with one more value. A name or value that a terminal cannot show as it is makes none.
func goOn(at, question string, k *asking) func(name, value string) string {
	return func(name, value string) string {
		words := []string{"sayso", "ask", at}
		if question != "" {
			words = append(words, question)
		}
		flag := func(name, value string) {
			if value != "" {
				words = append(words, "--"+name, value)
			}
		}
		flag("tool", k.tool)
		flag("arguments", k.arguments)
		flag("language", k.language)
		flag("root", k.root)
		if k.content {
			words = append(words, "--content")
		}
		if k.limit != 0 {
			flag("limit", strconv.Itoa(k.limit))
		}
		if k.acceptUnconfirmed {
			words = append(words, "--accept-unconfirmed")
		}
		if k.acceptUnlisted {
			words = append(words, "--accept-unlisted")
		}
		for _, set := range k.set {
			flag("set", set)
		}
		flag("set", name+"="+value)
		for i, word := range words {
			if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) || value == "" {
				return ""
			}
			words[i] = shellWord(word)
		}
		return strings.Join(words, " ")
	}
}
