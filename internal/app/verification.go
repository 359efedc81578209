package app

import (
	"context"
	"slices"
	"strings"
)

// maxDecision is what every store can have as part of a key, in bytes.
const maxDecision = 255

// RecordVerification is the first half of an operator verification, for a business without a domain: an operator has verified it under a decision id.
func (r *Registry) RecordVerification(ctx context.Context, actor Actor, slug, decision string, in ActInput) (*Receipt, error) {
	if err := plainText("decision", decision, true); err != nil {
		return nil, err
	}
	if len(decision) > maxDecision {
		return nil, invalid("invalid_decision", "the decision's id is longer than %d bytes", maxDecision)
	}
	return r.verification(ctx, actor, OpRecordVerification, slug, decision, in, func(c *change, row *VerificationRow) error {
		if row != nil {
			return refusal(KindConflict, "decision_exists", "the decision was recorded before").next("confirm it, or use another decision")
		}
		return c.PutVerification(ctx, &VerificationRow{Publisher: slug, Decision: decision, RecordedBy: actor.String(), RecordedAt: c.at})
	})
}

// ConfirmVerification is the second half, by another operator. The authority counts from this moment.
func (r *Registry) ConfirmVerification(ctx context.Context, actor Actor, slug, decision string, in ActInput) (*Receipt, error) {
	return r.verification(ctx, actor, OpConfirmVerification, slug, decision, in, func(c *change, row *VerificationRow) error {
		switch {
		case row == nil:
			return refusal(KindNotFound, "unknown_decision", "the decision was not recorded").next("record it first")
		case !row.WithdrawnAt.IsZero():
			return refusal(KindConflict, "decision_withdrawn", "the decision was withdrawn").next("record a new decision")
		case !row.ConfirmedAt.IsZero():
			return refusal(KindConflict, "decision_confirmed", "the decision was confirmed before")
		}
		rows, err := c.Tokens(ctx, "")
		if err != nil {
			return err
		}
		if samePerson(rows, actor.String(), row.RecordedBy) {
			return refusal(KindRefused, "second_operator", "the operator who recorded a decision cannot confirm it, nor can a token of the same name or origin").
				next("have a second operator confirm it, whose token was made on the machine's command line")
		}
		row.ConfirmedBy, row.ConfirmedAt = actor.String(), c.at
		return c.PutVerification(ctx, row)
	})
}

// samePerson reports whether two operators may be one: the same name, or tokens that lead back to one token, whose holder could have kept both.
func samePerson(tokens []TokenRow, a, b string) bool {
	a, b = strings.TrimPrefix(a, "operator "), strings.TrimPrefix(b, "operator ")
	made := makersOf(tokens)
	return strings.EqualFold(operatorName(tokens, a), operatorName(tokens, b)) || made.origin(a) == made.origin(b)
}

// operatorName is the name that a token was made under; a label of the machine's command line is a name itself.
func operatorName(tokens []TokenRow, id string) string {
	if i := slices.IndexFunc(tokens, func(t TokenRow) bool { return t.ID == id }); i >= 0 {
		return tokens[i].Name
	}
	return id
}

// WithdrawVerification takes a recorded or confirmed decision back.
func (r *Registry) WithdrawVerification(ctx context.Context, actor Actor, slug, decision string, in ActInput) (*Receipt, error) {
	return r.verification(ctx, actor, OpRejectVerification, slug, decision, in, func(c *change, row *VerificationRow) error {
		if row == nil || !row.WithdrawnAt.IsZero() {
			return refusal(KindNotFound, "unknown_decision", "there is no such decision, or it was withdrawn before")
		}
		row.WithdrawnAt = c.at
		return c.PutVerification(ctx, row)
	})
}

func (r *Registry) verification(ctx context.Context, actor Actor, op Operation, slug, decision string, in ActInput, f func(*change, *VerificationRow) error) (*Receipt, error) {
	if err := plainText("reason", in.Reason, false); err != nil {
		return nil, err
	}
	a := act{op: op, slug: slug, operation: in.Operation, target: decision, reason: in.Reason}
	return r.commit(ctx, actor, a, func(c *change) error {
		rows, err := c.Verifications(ctx, slug)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(v VerificationRow) bool { return v.Decision == decision })
		if i < 0 {
			return f(c, nil)
		}
		return f(c, &rows[i])
	})
}
