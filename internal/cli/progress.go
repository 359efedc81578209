package cli

import (
	"fmt"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressInterval is how often a line appears where there is no terminal to draw on.
const progressInterval = 5 * time.Second

// progress shows on standard error how far a long command is: a bar on a terminal, a line every five seconds elsewhere, nothing with --quiet.
type progress struct {
	e     *env
	label string
	total int64
	done  int64
	last  time.Time

	bars *mpb.Progress
	bar  *mpb.Bar
}

// progress begins to show work on total things. Add and end are called from one goroutine.
func (e *env) progress(label string, total int64) *progress {
	p := &progress{e: e, label: label, total: total, last: time.Now()}
	if !e.quiet && e.isTerminal(e.err) {
		p.bars = mpb.New(mpb.WithOutput(e.err), mpb.WithWidth(48))
		p.bar = p.bars.AddBar(total, mpb.PrependDecorators(decor.Name(label+" ")), mpb.AppendDecorators(decor.CountersNoUnit("%d of %d"), decor.Name(" "), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "")))
	}
	return p
}

// add counts n finished things.
func (p *progress) add(n int64) {
	p.done += n
	if p.bar != nil {
		p.bar.IncrInt64(n)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= progressInterval {
		p.last = now
		fmt.Fprintf(p.e.noteWriter(), "%s: %d of %d\n", p.label, p.done, p.total)
	}
}

// end removes the bar, also when the work broke off.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	if p.done < p.total {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}

// stages shows the progress of work that has several stages.
type stages struct {
	e    *env
	what string
	done int
	bar  *progress
}

func (s *stages) show(done, total int, what string) {
	if s.bar == nil || what != s.what {
		s.end()
		s.what, s.done, s.bar = what, 0, s.e.progress(what, int64(total))
	}
	s.bar.add(int64(done - s.done))
	s.done = done
}

func (s *stages) end() {
	if s.bar != nil {
		s.bar.end()
		s.bar = nil
	}
}
