package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/internal/proof"
	"sayso/jcs"
)

// The states of a proof's row.
const (
	proofPending  = proof.Pending
	proofProven   = proof.Proven
	proofLapsed   = proof.Lapsed
	proofReplaced = "replaced" // a newer attempt took its place
)

// Limits of what somebody asks for. Attempts stay as history, so they are bounded too.
const (
	maxFailedChecks = 5
	failureWindow   = time.Hour
	maxAttemptsADay = 100 // of a publisher, over all hosts
	countTime       = 10 * time.Second
)

// Prover looks for the token of a challenge; the failure is nil when it was found.
type Prover interface {
	Check(ctx context.Context, c proof.Challenge) (proof.Evidence, *proof.Failure)
}

var _ Prover = (*proof.Checker)(nil)

// ProofStart is what a business has to publish. The value is shown once.
type ProofStart struct {
	ID        string    `json:"id"`
	Host      string    `json:"host"`
	Method    string    `json:"method"`
	Place     string    `json:"place"` // name of the TXT record, or URL
	Value     string    `json:"value"`
	Text      string    `json:"text"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ProofResult is what a check found.
type ProofResult struct {
	Receipt
	Host       string    `json:"host"`
	Method     string    `json:"method"`
	Proven     bool      `json:"proven"`
	Reason     string    `json:"reason,omitempty"` // code of the failure
	Message    string    `json:"message,omitempty"`
	Next       string    `json:"next,omitempty"`
	ValidUntil time.Time `json:"valid_until,omitzero"`
}

func (r *Registry) proofHost(host, method string) (string, error) {
	if r.prover == nil {
		return "", refusal(KindUnavailable, "proof_unavailable", "this process cannot look at hosts").next("ask the server")
	}
	if method != proof.DNSTXT && method != proof.WellKnown {
		return "", invalid(proof.CodeUnknownMethod, "the method is neither %s nor %s", proof.DNSTXT, proof.WellKnown)
	}
	host, failure := proof.NormalizeHost(host, r.refusedTLDs)
	if failure != nil {
		return "", invalid(failure.Code, "%s", failure.Message).next("%s", failure.Next)
	}
	return host, nil
}

// StartProof makes a new challenge for one host. An earlier one that is still pending is replaced; a proof that holds goes on holding.
func (r *Registry) StartProof(ctx context.Context, actor Actor, slug, host, method, operation string) (*ProofStart, error) {
	if err := actor.may(OpStartProof, slug); err != nil {
		return nil, err
	}
	host, err := r.proofHost(host, method)
	if err != nil {
		return nil, err
	}
	secret, err := r.keys.ProofSecret()
	if err != nil {
		return nil, &Error{Kind: KindUnavailable, Code: "proof_unavailable", Message: "the secret of proof tokens could not be read", cause: err}
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	row := ProofRow{ID: "p-" + hex.EncodeToString(id[:]), Publisher: slug, Host: host, Method: method, Nonce: proof.NewNonce(), State: proofPending}
	a := act{op: OpStartProof, slug: slug, operation: operation, target: method + " " + host}
	a.made = func(rd Reader) error {
		rows, err := rd.Proofs(ctx, slug)
		if err == nil && !slices.ContainsFunc(rows, func(p ProofRow) bool { return p.ID == row.ID }) {
			err = ErrNotFound
		}
		return err
	}
	receipt, err := r.commit(ctx, actor, a, func(c *change) error {
		if err := attemptsLeft(ctx, c, slug); err != nil {
			return err
		}
		row.CreatedAt, row.ExpiresAt = c.at, proof.NewState(c.at).TokenExpires
		if err := replaceProofs(ctx, c, slug, func(p *ProofRow) bool { return p.State == proofPending && p.Host == host && p.Method == method }); err != nil {
			return err
		}
		return c.PutProof(ctx, &row)
	})
	if err != nil {
		return nil, err
	}
	if receipt.Repeated {
		return nil, refusal(KindConflict, "operation_done", "this operation made a challenge before, and its value is shown once").next("start the proof again under a new operation")
	}
	challenge := challengeOf(&row, secret)
	in := challenge.Instructions()
	return &ProofStart{ID: row.ID, Host: host, Method: method, Place: in.Place, Value: in.Value, Text: in.Text, ExpiresAt: row.ExpiresAt}, nil
}

func attemptsLeft(ctx context.Context, c *change, slug string) error {
	rows, err := c.Proofs(ctx, slug)
	if err != nil {
		return err
	}
	recent := 0
	for i := range rows {
		if c.at.Sub(rows[i].CreatedAt) < 24*time.Hour {
			recent++
		}
	}
	if recent < maxAttemptsADay {
		return nil
	}
	e := refusal(KindLimit, "proof_limit", "%s started %s within a day", slug, counted(recent, "proof")).next("check the ones that were started, or wait a day")
	e.RetryAfter = failureWindow
	return e
}

// replaceProofs marks the proofs of a publisher that match as replaced.
func replaceProofs(ctx context.Context, w Writer, slug string, match func(*ProofRow) bool) error {
	rows, err := w.Proofs(ctx, slug)
	if err != nil {
		return err
	}
	for i := range rows {
		if p := &rows[i]; match(p) {
			p.State, p.NextCheck = proofReplaced, time.Time{}
			if err := w.PutProof(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func challengeOf(p *ProofRow, secret []byte) proof.Challenge {
	return proof.Challenge{Host: p.Host, Method: p.Method, Token: proof.Token(secret, p.Publisher, p.Host, p.Method, p.Nonce), Until: stateOf(p).Until()}
}

// stateOf and apply carry a row into the pure schedule of package proof and back.
func stateOf(p *ProofRow) proof.State {
	return proof.State{
		Status: p.State, TokenExpires: p.ExpiresAt, VerifiedAt: p.VerifiedAt, ValidUntil: p.ValidUntil,
		NextCheck: p.NextCheck, FailedDays: p.FailedDays, LastFailure: p.LastFailure,
	}
}

func (p *ProofRow) apply(s proof.State) {
	p.State, p.VerifiedAt, p.ValidUntil, p.NextCheck, p.FailedDays, p.LastFailure = s.Status, s.VerifiedAt, s.ValidUntil, s.NextCheck, s.FailedDays, s.LastFailure
}

// evidence is what a row keeps besides its state: what the newest check observed, and the failed checks of the last hour, by which they are limited.
type evidence struct {
	Observed jcs.Raw     `json:"observed,omitempty"`
	Failed   []time.Time `json:"failed,omitempty"`
}

// failed adds a failed look and drops those that no longer count.
func (e *evidence) failed(now time.Time) {
	e.Failed = slices.DeleteFunc(e.Failed, func(at time.Time) bool { return now.Sub(at) >= failureWindow })
	e.Failed = append(e.Failed, now)
}

func (p *ProofRow) evidence() evidence {
	var e evidence
	if len(p.Evidence) > 0 && jcs.Decode(p.Evidence, &e) != nil {
		return evidence{} // written by another version: history, nothing rests on it
	}
	return e
}

// failures counts the failed checks of one host in the last hour, whatever the method and attempt.
func failures(rows []ProofRow, host string, now time.Time) int {
	n := 0
	for i := range rows {
		if rows[i].Host != host {
			continue
		}
		for _, at := range rows[i].evidence().Failed {
			if now.Sub(at) < failureWindow {
				n++
			}
		}
	}
	return n
}

// CheckProof looks for the token of the newest attempt, pending or proven. Looking happens outside of the transaction; what was found is committed only when
// the attempt is still the same. After five failed checks of a host within an hour no more are made.
func (r *Registry) CheckProof(ctx context.Context, actor Actor, slug, host, method, operation string) (*ProofResult, error) {
	if err := actor.may(OpCheckProof, slug); err != nil {
		return nil, err
	}
	host, err := r.proofHost(host, method)
	if err != nil {
		return nil, err
	}
	// Checks of one host are one after the other, or the limit would be that of one caller only.
	if _, busy := r.checking.LoadOrStore(slug+" "+host, true); busy {
		return nil, refusal(KindConflict, "proof_running", "a check of this host is running").next("wait for its result")
	}
	defer r.checking.Delete(slug + " " + host)
	row, err := r.attempt(ctx, actor, slug, host, method)
	if err != nil {
		return nil, err
	}
	return r.observe(ctx, actor, row, act{op: OpCheckProof, slug: slug, operation: operation, target: method + " " + host})
}

// attempt finds the newest attempt that can be checked.
func (r *Registry) attempt(ctx context.Context, actor Actor, slug, host, method string) (*ProofRow, error) {
	var row *ProofRow
	err := r.view(ctx, actor, OpCheckProof, slug, func(rd Reader) error {
		publisher, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		if err := actor.delegation(OpCheckProof, publisher); err != nil {
			return err
		}
		rows, err := rd.Proofs(ctx, slug)
		if err != nil {
			return err
		}
		if failures(rows, host, r.Now()) >= maxFailedChecks {
			e := refusal(KindLimit, "proof_limit", "five checks of %s failed within an hour", host).next("correct what the last check named, and try again in an hour")
			e.RetryAfter = failureWindow
			return e
		}
		for i := range rows {
			if p := &rows[i]; p.Host == host && p.Method == method && (p.State == proofPending || p.State == proofProven) {
				row = p
			}
		}
		if row == nil {
			return refusal(KindNotFound, "unknown_proof", "no proof of %s by %s was started, or it has lapsed", host, method).next("start the proof")
		}
		return nil
	})
	return row, err
}

// observe checks one attempt and commits what came of it.
func (r *Registry) observe(ctx context.Context, actor Actor, seen *ProofRow, a act) (*ProofResult, error) {
	secret, err := r.keys.ProofSecret()
	if err != nil {
		return nil, &Error{Kind: KindUnavailable, Code: "proof_unavailable", Message: "the secret of proof tokens could not be read", cause: err}
	}
	seenThere, failure := r.prover.Check(ctx, challengeOf(seen, secret))
	if err := ctx.Err(); err != nil { // an interrupted look says nothing about the host
		r.countLook(ctx, actor, seen, a, "interrupted")
		return nil, storeError(err)
	}
	observed, err := jcs.Encode(seenThere)
	if err != nil {
		return nil, AsError(err)
	}
	result := &ProofResult{Host: seen.Host, Method: seen.Method}
	receipt, err := r.commit(ctx, actor, a, func(c *change) error {
		row, err := sameAttempt(ctx, c, seen)
		if err != nil {
			return err
		}
		conflicts, err := record(ctx, c, row, observed, failure)
		if err != nil {
			return err
		}
		*result = ProofResult{Host: row.Host, Method: row.Method, Proven: row.State == proofProven && failure == nil, ValidUntil: row.ValidUntil}
		if failure != nil {
			result.Reason, result.Message, result.Next = failure.Code, failure.Message, failure.Next
			c.audit.Reason = failure.Code
		}
		for _, other := range conflicts {
			conflict := AuditRow{At: c.at, Actor: theRegistry.String(), Action: "host_conflict", Target: row.Host, Reason: "proven by " + row.Publisher + " and by " + other}
			if err := c.AppendAudit(ctx, &conflict); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		if failure != nil {
			r.countLook(ctx, actor, seen, a, AsError(err).Code)
		}
		return nil, err
	}
	result.Receipt = *receipt
	return result, nil
}

// countLook puts a look whose outcome was not committed among the failed ones: else hanging up, or replacing the attempt meanwhile, would give any number of
// them. What the registry does by itself is not limited.
func (r *Registry) countLook(ctx context.Context, actor Actor, seen *ProofRow, a act, why string) {
	if actor.role == roleRegistry {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTime)
	defer cancel()
	_, err := r.commit(ctx, actor, act{op: a.op, slug: a.slug, target: a.target, reason: why}, func(c *change) error {
		rows, err := c.Proofs(ctx, seen.Publisher)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(p ProofRow) bool { return p.ID == seen.ID })
		if i < 0 {
			return nil
		}
		e := rows[i].evidence()
		e.failed(c.at)
		if rows[i].Evidence, err = jcs.Encode(e); err != nil {
			return err
		}
		return c.PutProof(ctx, &rows[i])
	})
	if err != nil {
		r.log.Error("a look at a host was not counted", "publisher", seen.Publisher, "host", seen.Host, "cause", err.Error())
	}
}

func sameAttempt(ctx context.Context, rd Reader, seen *ProofRow) (*ProofRow, error) {
	rows, err := rd.Proofs(ctx, seen.Publisher)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(p ProofRow) bool { return p.ID == seen.ID })
	if i < 0 || rows[i].State != seen.State || !rows[i].NextCheck.Equal(seen.NextCheck) {
		return nil, refusal(KindConflict, "proof_changed", "the proof was checked or replaced meanwhile").next("look at the proofs")
	}
	return &rows[i], nil
}

// record puts the outcome of a check into the row. A first success replaces the publisher's older proofs of that host and lets the host route to it, unless
// another publisher has it. It returns the other publishers that hold a live proof of the host.
func record(ctx context.Context, c *change, row *ProofRow, observed jcs.Raw, failure *proof.Failure) (conflicts []string, err error) {
	first := row.State == proofPending
	row.apply(stateOf(row).After(failure, c.at))
	e := row.evidence()
	e.Observed = observed
	if failure != nil && c.actor.role != roleRegistry {
		e.failed(c.at)
	}
	if row.Evidence, err = jcs.Encode(e); err != nil {
		return nil, err
	}
	if first && row.State == proofProven {
		older := func(p *ProofRow) bool { return p.ID != row.ID && p.State == proofProven && p.Host == row.Host }
		if err := replaceProofs(ctx, c, row.Publisher, older); err != nil {
			return nil, err
		}
		if conflicts, err = otherHolders(ctx, c, row); err != nil {
			return nil, err
		}
		if err := routeProven(ctx, c, row); err != nil {
			return nil, err
		}
	}
	return conflicts, c.PutProof(ctx, row)
}

func otherHolders(ctx context.Context, rd Reader, row *ProofRow) ([]string, error) {
	rows, err := rd.ProofsByHost(ctx, row.Host)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range rows {
		if p.Publisher != row.Publisher && p.State == proofProven && !slices.Contains(out, p.Publisher) {
			out = append(out, p.Publisher)
		}
	}
	return out, nil
}

func routeProven(ctx context.Context, c *change, row *ProofRow) error {
	hosts, err := c.Hosts(ctx)
	if err != nil || hosts[row.Host] != "" {
		return err
	}
	return c.PutHost(ctx, row.Host, row.Publisher)
}

// recheck looks again at every proof that is due. Each is its own commit; one that fails for reasons of this machine is tried again at the next round.
func (r *Registry) recheck(ctx context.Context) error {
	if r.prover == nil {
		return nil
	}
	const round = 100
	var due []ProofRow
	err := r.store.View(ctx, func(rd Reader) (err error) {
		due, err = rd.ProofsDue(ctx, r.Now(), round)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the proofs that are due: %w", err)
	}
	for i := range due {
		p := &due[i]
		result, err := r.observe(ctx, theRegistry, p, act{op: OpCheckProof, slug: p.Publisher, target: p.Method + " " + p.Host, final: true})
		switch e := (*Error)(nil); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &e) && e.Kind == KindConflict: // another replica was faster
		case err != nil:
			r.log.Error("proof not checked again", "publisher", p.Publisher, "host", p.Host, "cause", err.Error())
		case !result.Proven:
			r.log.Warn("proof not found again", "publisher", p.Publisher, "host", p.Host, "reason", result.Reason, "valid_until", result.ValidUntil)
		}
	}
	return nil
}
