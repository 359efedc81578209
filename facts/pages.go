package facts

import "io"

// Pages renders HTML. internal/web provides it; the HTTP surface and the static build call it. A nil field means: no HTML form is offered.
type Pages struct {
	// Fact renders a record answer. static: no day-dependent words.
	Fact func(w io.Writer, s *Snapshot, a *Answer, today Date) error
	// Batch renders a batch of answers.
	Batch func(w io.Writer, s *Snapshot, b *Batch, today Date) error
	// Index renders the index of a namespace ("" = all) with the search form.
	Index func(w io.Writer, s *Snapshot, namespace string, today Date) error
	// Changes renders the changelog.
	Changes func(w io.Writer, s *Snapshot, today Date) error
	// Resolve renders candidates for a question.
	Resolve func(w io.Writer, s *Snapshot, r *Resolution, today Date) error
	// Miss renders an unknown key or a period not held.
	Miss func(w io.Writer, s *Snapshot, a *Answer, today Date) error
	// Problem renders any other refusal (bad parameter, 405, …).
	Problem func(w io.Writer, s *Snapshot, status int, title, message string) error
	// Protocol renders the page about the protocol and this publisher (/protocol/facts).
	Protocol func(w io.Writer, s *Snapshot, today Date) error
	// Assets are the static files under /assets/ (style sheet, scripts, icon): path below /assets/ -> bytes.
	Assets map[string][]byte
	// CSP is the Content-Security-Policy of every page.
	CSP string
}
