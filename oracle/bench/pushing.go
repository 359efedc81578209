package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"sayso/internal/app"
)

// patience is how soon a reading that was pushed must be seen.
const patience = 50 * time.Millisecond

// measureLive holds the time from sending a reading to the admin API to having read it in the answer of a live.query, both over HTTP. It is a time and no
// ratio between two sides: what a customer is told is as old as this, whatever else the machine could do.
func measureLive(r *report, p *plan) error {
	ctx := context.Background()
	var took, durable []time.Duration
	err := withRegistry(ctx, "", func(reg *registryOf) error {
		bundle, err := bundleOf(p.called)
		if err != nil {
			return err
		}
		if err := errors.Join(reg.establish(ctx, shop), reg.take(ctx, shop, bundle, p.called)); err != nil {
			return err
		}
		token, err := reg.CreateToken(ctx, reg.actor, shop, "till", []string{app.ScopeLive}, "")
		if err != nil {
			return err
		}
		return reg.serve(ctx, func(public, private string) error {
			took, durable, err = pushes(public, private, token.Token, p.pushes)
			return err
		})
	})
	if err != nil {
		return err
	}
	slices.Sort(took)
	slices.Sort(durable)
	p50, p99 := quantile(took, 50), quantile(took, 99)
	r.title("From sending a live reading to having read it with live.query, over HTTP, %d readings one after another, SQLite; it is a time: the ratio is p99 through %d ms",
		len(took), patience/time.Millisecond)
	r.table("p50 ms|p99 ms|most ms|of it durable, p50 ms|p99 ms", fmt.Sprintf("%s|%s|%s|%s|%s", ms(p50), ms(p99), ms(took[len(took)-1]), ms(quantile(durable, 50)), ms(quantile(durable, 99))))
	r.bound(line{name: "answer-live", ratio: float64(p99) / float64(patience), bound: 1})
	return nil
}

// pushes sends n readings, each when the one before was seen. durable is how long each push alone took: it is answered when the reading is on disk.
func pushes(public, private, token string, n int) (took, durable []time.Duration, err error) {
	asking, err := net.Dial("tcp", public)
	if err != nil {
		return nil, nil, err
	}
	defer asking.Close()
	pushing, err := net.Dial("tcp", private)
	if err != nil {
		return nil, nil, err
	}
	defer pushing.Close()
	answers, receipts := bufio.NewReaderSize(asking, 64<<10), bufio.NewReaderSize(pushing, 64<<10)
	query := callOf("/t/"+shop+"/mcp", "queue", `{"stream":"queue"}`)
	for i := range n {
		begin := time.Now()
		reading := fmt.Sprintf(`{"stream":"queue","value":%d,"observed_at":%q}`, i, begin.UTC().Format(time.RFC3339Nano))
		push := fmt.Appendf(nil, "POST /api/v1/publishers/%s/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			shop, token, len(reading), reading)
		receipt, err := exchange(pushing, receipts, push)
		if err != nil {
			return nil, nil, err
		}
		if err := accepted(receipt); err != nil {
			return nil, nil, err
		}
		durable = append(durable, time.Since(begin))
		for seen := -1; seen != i; {
			if time.Since(begin) > 10*time.Second {
				return nil, nil, fmt.Errorf("reading %d was not seen in 10 s, only %d", i, seen)
			}
			body, err := exchange(asking, answers, query)
			if err != nil {
				return nil, nil, err
			}
			if seen, err = seenIn(body); err != nil {
				return nil, nil, err
			}
		}
		took = append(took, time.Since(begin))
	}
	return took, durable, nil
}

func accepted(receipt []byte) error {
	var answered struct{ Accepted int }
	if err := json.Unmarshal(receipt, &answered); err != nil {
		return err
	}
	if answered.Accepted != 1 {
		return fmt.Errorf("a reading was not kept: %s", receipt)
	}
	return nil
}

// seenIn is the value of the one reading that a live.query answered with, -1 when it answered with none.
func seenIn(body []byte) (int, error) {
	_, structured, err := readCall(body)
	if err != nil {
		return 0, err
	}
	var envelope struct {
		Result struct{ Readings []struct{ Value int } }
	}
	if err := json.Unmarshal(structured, &envelope); err != nil {
		return 0, err
	}
	if len(envelope.Result.Readings) != 1 {
		return -1, nil
	}
	return envelope.Result.Readings[0].Value, nil
}
