package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"sayso/business/coverage"
	"sayso/jcs"
)

// The connections of the calls: as many as keep both cores busy for throughput, and four times as many for the slowest.
const (
	busyConnections = 16
	manyConnections = 64
)

// measureCall holds signed calls over HTTP against the official SDK's echo for throughput, and against a handler that sends the same bytes for the slowest.
func measureCall(r *report, p *plan) error {
	ctx := context.Background()
	return withRegistry(ctx, "", func(reg *registryOf) error {
		bundle, err := bundleOf(p.called)
		if err != nil {
			return err
		}
		if err := errors.Join(reg.establish(ctx, shop), reg.take(ctx, shop, bundle, p.called)); err != nil {
			return err
		}
		return reg.serve(ctx, func(public, _ string) error { return callsAt(r, p, public) })
	})
}

func callsAt(r *report, p *plan, public string) error {
	requests, err := askRequests(p.called, p.questions)
	if err != nil {
		return err
	}
	echo := newEcho()
	defer echo.Close()
	bare, err := newBare(public, requests)
	if err != nil {
		return err
	}
	defer bare.Close()
	size, err := sameCalls(public, echo, bare, requests)
	if err != nil {
		return err
	}
	through := func(address string) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			took, all, err := volley(address, requests, busyConnections, 10*p.stretch, 0)
			return all / time.Duration(max(1, len(took))), err
		}
	}
	rounds := max(9, p.rounds)
	calls, err := alternate(rounds, through(public), through(echo.Listener.Addr().String()))
	if err != nil {
		return err
	}
	// A call that is due while the one before it is answered counts from the moment it was due.
	slowest := func(address string, pace time.Duration) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			took, _, err := volley(address, requests, manyConnections, 50*p.stretch, pace)
			if len(took) == 0 {
				return 0, errors.Join(err, errors.New("nothing was answered"))
			}
			return quantile(took, 99), err
		}
	}
	ours, theirs := median(calls.ours), median(calls.theirs)
	pace := 4 * manyConnections * ours
	paced, err := alternate(p.rounds, slowest(public, pace), slowest(bare.Listener.Addr().String(), pace))
	if err != nil {
		return err
	}
	full, err := alternate(p.rounds, slowest(public, 0), slowest(bare.Listener.Addr().String(), 0))
	if err != nil {
		return err
	}
	r.title("Signed tools/call over HTTP, a publisher of %d products in SQLite behind a whole server, answers of %d bytes, client in the same process", p.called, size)
	r.table("connections|calls|baseline|ours|baseline|ratio",
		fmt.Sprintf("%d|without a pause|official SDK, echo tool|%.0f/s|%.0f/s|%.3f", busyConnections, 1e9/float64(ours), 1e9/float64(theirs), 1/calls.ratio()),
		fmt.Sprintf("%d|%.0f/s|bare handler, same bytes|p99 %s ms|%s ms|%.3f", manyConnections, manyConnections/pace.Seconds(), ms(median(paced.ours)), ms(median(paced.theirs)), paced.ratio()),
		fmt.Sprintf("%d|without a pause|bare handler, same bytes|p99 %s ms|%s ms|%.3f", manyConnections, ms(median(full.ours)), ms(median(full.theirs)), full.ratio()))
	r.bound(line{name: fmt.Sprintf("answer-call/%d", busyConnections), ratio: 1 / calls.ratio(), bound: 1, atLeast: true})
	r.bound(line{name: fmt.Sprintf("answer-call-p99/%d", manyConnections), ratio: paced.ratio(), bound: 3})
	return nil
}

// askRequests are calls of the tool ask with the usual questions.
func askRequests(n, count int) ([][]byte, error) {
	var requests [][]byte
	for _, q := range questionsOf(n, count) {
		arguments, err := jcs.Encode(map[string]string{"query": q.text})
		if err != nil {
			return nil, err
		}
		requests = append(requests, callOf("/t/"+shop+"/mcp", "ask", string(arguments)))
	}
	return requests, nil
}

// sameCalls holds that each side answers: ours with a signed envelope in both channels, the echo with the arguments, the bare handler with the headers and
// about as many bytes as ours: instants and latencies have more or fewer digits. It returns how many bytes an answer has on average.
func sameCalls(public string, echo, bare *httptest.Server, requests [][]byte) (int, error) {
	size, sample := 0, requests[:min(len(requests), 50)]
	for _, request := range sample {
		header, ours, err := answerTo(public, request)
		if err != nil {
			return 0, err
		}
		size += len(ours)
		text, structured, err := readCall(ours)
		if err != nil {
			return 0, err
		}
		var envelope struct {
			Coverage   struct{ Status coverage.Status }
			SigningKid string `json:"signing_kid"`
		}
		if err := json.Unmarshal([]byte(text), &envelope); err != nil || text != string(structured) || envelope.Coverage.Status == "" || envelope.SigningKid == "" {
			return 0, fmt.Errorf("no signed envelope in both channels: %v %.400s", err, ours)
		}
		_, said, err := answerTo(echo.Listener.Addr().String(), request)
		if err != nil {
			return 0, err
		}
		if text, _, err := readCall(said); err != nil || !strings.Contains(string(request), text) {
			return 0, fmt.Errorf("the echo does not say what it was asked: %v %s", err, said)
		}
		again, replayed, err := answerTo(bare.Listener.Addr().String(), request)
		if err != nil {
			return 0, err
		}
		if apart := max(len(replayed), len(ours)) - min(len(replayed), len(ours)); apart > 128 || len(again) != len(header) {
			return 0, fmt.Errorf("the bare handler sends %d bytes and %d headers, not %d and %d", len(replayed), len(again), len(ours), len(header))
		}
	}
	return size / len(sample), nil
}

// readCall is what both channels of an answered call hold.
func readCall(body []byte) (text string, structured json.RawMessage, err error) {
	var answered struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &answered); err != nil {
		return "", nil, err
	}
	if len(answered.Result.Content) != 1 {
		return "", nil, fmt.Errorf("no result: %.400s", body)
	}
	return answered.Result.Content[0].Text, answered.Result.StructuredContent, nil
}
