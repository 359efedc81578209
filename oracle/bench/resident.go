package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"sayso/jcs"
)

// eachResident is how many products each publisher has whose answers are held.
const eachResident = 100

// residentVariable makes this program a server of as many publishers as it says, which measures itself.
const residentVariable = "SAYSO_BENCH_RESIDENT"

// heldAnswers is what such a child says about itself.
type heldAnswers struct {
	Before   int           // resident bytes before the first question
	Resident int           // and after every publisher was asked and garbage was given back
	First    time.Duration // of a publisher's first question on average, which compiles it
	Again    time.Duration // of the same question later
}

// measureResident holds the memory of a server that has compiled a thousand small publishers, in a process of its own.
func measureResident(r *report, p *plan) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), residentVariable+"="+strconv.Itoa(p.resident))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the server of %d publishers: %w", p.resident, err)
	}
	var held heldAnswers
	if err := json.Unmarshal(out, &held); err != nil {
		return err
	}
	r.title("A server of %d publishers of %d products each, all compiled, in a process of its own; memory: all it holds, after a forced collection", p.resident, eachResident)
	r.table("MB before|MB|KB a publisher|first question ms|again ms", fmt.Sprintf("%d|%d|%d|%s|%s", held.Before>>20, held.Resident>>20,
		(held.Resident-held.Before)/p.resident>>10, ms(held.First), ms(held.Again)))
	r.bound(line{name: fmt.Sprintf("answer-resident/%d", p.resident), ratio: float64(held.Resident), bound: 1e9, bytes: true})
	return nil
}

// residentChild is the child.
func residentChild(size string, out io.Writer) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	ctx := context.Background()
	return withRegistry(ctx, "", func(r *registryOf) error {
		slugs, err := r.settle(ctx, n)
		if err != nil {
			return err
		}
		return r.serve(ctx, func(string, string) error {
			held, err := r.hold(ctx, slugs)
			if err != nil {
				return err
			}
			return json.NewEncoder(out).Encode(held)
		})
	})
}

// settle makes n published publishers with products.
func (r *registryOf) settle(ctx context.Context, n int) (slugs []string, err error) {
	bundle, err := bundleOf(eachResident)
	if err != nil {
		return nil, err
	}
	for i := range n {
		slug := fmt.Sprintf("business-%05d", i)
		if err := errors.Join(r.establish(ctx, slug), r.take(ctx, slug, bundle, eachResident)); err != nil {
			return nil, err
		}
		slugs = append(slugs, slug)
	}
	return slugs, nil
}

// hold asks every publisher, so that all are compiled, and measures the memory. That they are still compiled shows when all are asked again: what has to be
// read for it cannot be, because the store is closed.
func (r *registryOf) hold(ctx context.Context, slugs []string) (held heldAnswers, err error) {
	question, err := jcs.Encode(map[string]string{"query": "How much is the " + productOf(0).title() + "?"})
	if err != nil {
		return held, err
	}
	ask := func() (time.Duration, error) {
		begin := time.Now()
		for _, slug := range slugs {
			if _, err := r.Ask(ctx, slug, "ask", question); err != nil {
				return 0, fmt.Errorf("%s: %w", slug, err)
			}
		}
		return time.Since(begin) / time.Duration(len(slugs)), nil
	}
	settled := func() (int, error) {
		runtime.GC()
		debug.FreeOSMemory()
		return resident()
	}
	if held.Before, err = settled(); err != nil {
		return held, err
	}
	if held.First, err = ask(); err != nil {
		return held, err
	}
	if held.Resident, err = settled(); err != nil {
		return held, err
	}
	if err := r.store.Close(); err != nil {
		return held, err
	}
	held.Again, err = ask()
	return held, err
}
