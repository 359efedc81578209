package cli

import (
	"fmt"
	"sync"
	"time"
)

// patience says on standard error that a step of unknown length is still at work: on a terminal the seconds after the first one, elsewhere a line every five
// seconds, nothing with --quiet. Nothing else may write to standard error until the function it returns has ended it.
func (e *env) patience(label string) (end func()) {
	interval := progressInterval
	terminal := e.isTerminal(e.err)
	if terminal {
		interval = time.Second
	}
	out := e.noteWriter()
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		begin, shown := time.Now(), false
		for {
			select {
			case <-tick.C:
				seconds := int(time.Since(begin).Seconds())
				if shown = terminal; terminal {
					fmt.Fprintf(out, "\r%s: %d s", label, seconds)
				} else {
					fmt.Fprintf(out, "%s: %d s\n", label, seconds)
				}
			case <-done:
				if shown {
					fmt.Fprint(out, "\r\x1b[K")
				}
				return
			}
		}
	})
	return func() {
		close(done)
		group.Wait()
	}
}

// act shows an act on a folder: the look at it takes a time nobody knows, the steps after that are counted.
type act struct {
	waiting func()
	steps   stages
	what    string
}

func (e *env) act(look, what string) *act {
	return &act{sync.OnceFunc(e.patience(look)), stages{e: e}, what}
}

func (a *act) step(done, total int) {
	a.waiting()
	a.steps.show(done, total, a.what)
}

// end clears the screen for what is printed next.
func (a *act) end() {
	a.waiting()
	a.steps.end()
}
