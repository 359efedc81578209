package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"

	"golang.org/x/term"

	"sayso/internal/config"
	"sayso/jcs"
	"sayso/report"
)

// env is everything a command may touch.
type env struct {
	ctx     context.Context // ends with the first interrupt
	in      io.Reader
	out     io.Writer // the answer
	err     io.Writer // everything else
	environ []string

	config *config.Config
	json   bool
	schema bool // print the schema of the answer instead
	quiet  bool

	hasAnswered bool
}

// answer prints the one answer of a command: v as JSON with --json, else what text writes.
func (e *env) answer(v any, text func(w io.Writer) error) error {
	e.hasAnswered = true
	if !e.json {
		return text(e.out)
	}
	return e.writeJSON(v)
}

// writeJSON prints one JSON value on a line. On a terminal what would reorder or overwrite the texts of others on it is escaped, which is the same value.
func (e *env) writeJSON(v any) error {
	body, err := jcs.Encode(v)
	if err != nil {
		return err
	}
	if f, ok := e.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		body = escaped(body)
	}
	_, err = e.out.Write(append(body, '\n'))
	return err
}

// escaped is a JSON text with each character that [report.Clean] would replace written as its UTF-16 escape. They occur within strings alone: outside of them JSON is ASCII, and below U+0020 a
// string holds none.
func escaped(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for _, r := range string(body) {
		if text := string(r); r < 0x7f || report.Clean(text) == text {
			out = append(out, text...)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// note tells the person something that is not the answer.
func (e *env) note(format string, args ...any) {
	fmt.Fprintf(e.noteWriter(), "%s\n", printable(fmt.Sprintf(format, args...)))
}

// openInput opens a file that the user named, standard input for "-".
func (e *env) openInput(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.in), nil
	}
	return os.Open(name)
}

// noteWriter is where notes go.
func (e *env) noteWriter() io.Writer {
	if e.quiet {
		return io.Discard
	}
	return e.err
}

// getenv reads the environment the command was started with.
func (e *env) getenv(name string) string {
	for i := len(e.environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// isTerminal reports whether a stream is a terminal that understands more than lines.
func (e *env) isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && e.getenv("TERM") != "dumb"
}

// paint colours a text for a stream, when that stream wants colours.
func (e *env) paint(stream io.Writer, code, text string) string {
	if !e.wantsColor(stream) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (e *env) wantsColor(stream io.Writer) bool {
	mode := "auto"
	if e.config != nil {
		mode = e.config.Color
	}
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return e.getenv("NO_COLOR") == "" && e.getenv("CLICOLOR") != "0" && e.isTerminal(stream)
}

// command is a command line to run next, to be copied: with the data folder that a flag named for this one.
func (e *env) command(format string, args ...any) string {
	line := "sayso " + fmt.Sprintf(format, args...)
	if e.config.Sources["data"].Kind == "flag" {
		line += " --data " + shellWord(e.config.Data)
	}
	return line
}

// plural counts things: "1 fact", "2 facts".
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
