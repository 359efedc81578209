package app

import (
	"context"
	"time"

	"sayso/business"
)

// ActInput is what most acts take beside the publisher.
type ActInput struct {
	Reason    string // for the audit trail, never published; required where an act says so
	Operation string // identity of the act, so that it can be repeated; "" = none
}

// Publish makes the publisher's content public: draft or paused becomes published. Without current authority it is refused and changes nothing
// (authority_missing). A publisher without a key gets one.
func (r *Registry) Publish(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	make := r.keyMaker(slug)
	return r.state(ctx, actor, OpPublish, slug, in, func(c *change) error {
		if c.row.Lifecycle == business.Published {
			return refusal(KindConflict, "already_published", "%s is published already", slug)
		}
		return r.goPublic(ctx, c, make)
	})
}

// Resume publishes a paused publisher again, under the same conditions.
func (r *Registry) Resume(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	make := r.keyMaker(slug)
	return r.state(ctx, actor, OpResume, slug, in, func(c *change) error {
		if c.row.Lifecycle != business.Paused {
			return refusal(KindConflict, "not_paused", "%s is not paused", slug)
		}
		return r.goPublic(ctx, c, make)
	})
}

func (r *Registry) goPublic(ctx context.Context, c *change, make func() (business.Signer, error)) error {
	standing, err := standingOf(ctx, c, c.row)
	if err != nil {
		return err
	}
	if !standing.Authorised(c.at) {
		return refusal(KindRefused, "authority_missing", "nobody has proven the authority over %s, or the proof has lapsed", c.row.Slug).
			next("prove a host of the business, or have two operators verify it")
	}
	if err := r.ensureKey(ctx, c, make); err != nil {
		return err
	}
	c.row.Lifecycle = business.Published
	return nil
}

// Pause closes every channel of content at once. Manifest, keys and lists stay.
func (r *Registry) Pause(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	return r.state(ctx, actor, OpPause, slug, in, func(c *change) error {
		if c.row.Lifecycle != business.Published {
			return refusal(KindConflict, "not_published", "%s is not published", slug)
		}
		c.row.Lifecycle = business.Paused
		return nil
	})
}

// Suspend closes every channel of content by decision of an operator, who gives a reason.
func (r *Registry) Suspend(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	if err := plainText("reason", in.Reason, true); err != nil {
		return nil, err
	}
	return r.state(ctx, actor, OpSuspend, slug, in, func(c *change) error {
		if c.row.Suspended {
			return refusal(KindConflict, "already_suspended", "%s is suspended already", slug)
		}
		c.row.Suspended, c.row.Reason = true, in.Reason
		return nil
	})
}

// Unsuspend takes a suspension back.
func (r *Registry) Unsuspend(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	return r.state(ctx, actor, OpUnsuspend, slug, in, func(c *change) error {
		if !c.row.Suspended {
			return refusal(KindConflict, "not_suspended", "%s is not suspended", slug)
		}
		c.row.Suspended, c.row.Reason = false, ""
		return nil
	})
}

func (r *Registry) state(ctx context.Context, actor Actor, op Operation, slug string, in ActInput, f func(*change) error) (*Receipt, error) {
	if err := plainText("reason", in.Reason, false); err != nil {
		return nil, err
	}
	return r.commit(ctx, actor, act{op: op, slug: slug, operation: in.Operation, reason: in.Reason}, f)
}

// Withdraw ends a publisher for good. An owner asks for it: the publisher is paused at once, and an operator completes it. An operator completes what an
// owner asked for, or does it alone and then gives a reason. The publisher's list gets a tenant entry and the registry's list a publisher entry, both in the
// one commit; keys and lists stay. code is the reason on both lists, "" = withdrawn.
func (r *Registry) Withdraw(ctx context.Context, actor Actor, slug, code string, in ActInput) (*Receipt, error) {
	if actor.role == roleOwner {
		return r.requestWithdrawal(ctx, actor, slug, in)
	}
	if code == "" {
		code = "withdrawn"
	}
	return r.state(ctx, actor, OpWithdraw, slug, in, func(c *change) error {
		asked, err := withdrawalAsked(ctx, c, slug)
		if err != nil {
			return err
		}
		if !asked && in.Reason == "" {
			return invalid("reason_missing", "the owner has not asked for the withdrawal of %s, so it needs a reason", slug).next("give a reason")
		}
		created := bound(c.at)
		for list, entry := range map[string]*business.RevocationEntry{
			slug: {Scope: business.ScopeTenant, Reason: code, CreatedAt: created},
			"":   {Scope: business.ScopePublisher, Subject: slug, Reason: code, CreatedAt: created},
		} {
			if err := checkEntry(entry, list); err != nil {
				return err
			}
			if err := c.AppendRevocation(ctx, list, entry); err != nil {
				return err
			}
		}
		if _, err := c.Advance(ctx, ""); err != nil {
			return err
		}
		c.row.Lifecycle, c.row.Reason = business.Withdrawn, in.Reason
		return nil
	})
}

func (r *Registry) requestWithdrawal(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	return r.state(ctx, actor, OpRequestWithdrawal, slug, in, func(c *change) error {
		if c.row.Lifecycle == business.Published {
			c.row.Lifecycle = business.Paused
		}
		c.receipt.Withdrawal = "requested"
		return nil
	})
}

// withdrawalAsked reports whether the owner's request stands: publishing again after it takes it back.
func withdrawalAsked(ctx context.Context, rd Reader, slug string) (asked bool, err error) {
	const page = 500
	for after := int64(0); ; {
		rows, err := rd.Audit(ctx, slug, after, page)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			switch after = row.Sequence; Operation(row.Action) {
			case OpRequestWithdrawal:
				asked = true
			case OpPublish, OpResume:
				asked = false
			}
		}
		if len(rows) < page {
			return asked, nil
		}
	}
}

// standing is the registry's judgement about a publisher as the manifest states it, and on how many days since the newest success the proof that counts
// was looked for and was not there. The third ends it.
type standing struct {
	business.Standing
	failedDays int
}

// expiring reports whether the authority ends soon: it rests on a proof alone, and that was not found again or is in its last days.
func (s *standing) expiring(now time.Time) bool {
	p := s.Proof
	return p != nil && s.Verification == nil && now.Before(p.ValidUntil) && (s.failedDays > 0 || p.ValidUntil.Sub(now) < proofWarning)
}

func standingOf(ctx context.Context, rd Reader, row *PublisherRow) (*standing, error) {
	s := &standing{Standing: business.Standing{Region: row.Region, Lifecycle: row.Lifecycle, Suspended: row.Suspended}}
	proofs, err := rd.Proofs(ctx, row.Slug)
	if err != nil {
		return nil, err
	}
	verifications, err := rd.Verifications(ctx, row.Slug)
	if err != nil {
		return nil, err
	}
	for i := range proofs {
		if p := &proofs[i]; p.State == proofProven && (s.Proof == nil || p.ValidUntil.After(s.Proof.ValidUntil)) {
			s.Proof = &business.DomainProof{Host: p.Host, Method: p.Method, VerifiedAt: p.VerifiedAt, ValidUntil: p.ValidUntil}
			s.failedDays = p.FailedDays
		}
	}
	for i := range verifications {
		if v := &verifications[i]; !v.ConfirmedAt.IsZero() && v.WithdrawnAt.IsZero() && (s.Verification == nil || v.ConfirmedAt.After(s.Verification.ConfirmedAt)) {
			s.Verification = &business.OperatorVerification{Decision: v.Decision, ConfirmedAt: v.ConfirmedAt}
		}
	}
	return s, nil
}
