package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// canAsk reports whether somebody sits at the input who could answer.
func (e *env) canAsk() bool {
	f, ok := e.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ask reads one line that a person types. Callers have made sure of canAsk.
func (e *env) ask(question string) (string, error) {
	fmt.Fprint(e.err, question)
	line, err := bufio.NewReader(e.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}
