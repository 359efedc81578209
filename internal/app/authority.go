package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// The scopes of an owner's token.
const (
	ScopeImport  = "import"
	ScopePublish = "publish"
	ScopeKeys    = "keys"
	ScopeLive    = "live"
	// ScopeAny stands in [Rules] for any token of the publisher.
	ScopeAny = "any"
)

// Scopes are the scopes a token may hold.
var Scopes = []string{ScopeImport, ScopePublish, ScopeKeys, ScopeLive}

// Operation names one act or read.
type Operation string

// The operations.
const (
	OpCreatePublisher     Operation = "create_publisher"
	OpImport              Operation = "import"
	OpSetProfile          Operation = "set_profile"
	OpSetSchema           Operation = "set_schema"
	OpSetLocations        Operation = "set_locations"
	OpSetCalendar         Operation = "set_calendar"
	OpPushReadings        Operation = "push_readings"
	OpStartProof          Operation = "start_proof"
	OpCheckProof          Operation = "check_proof"
	OpRecordVerification  Operation = "record_verification"
	OpConfirmVerification Operation = "confirm_verification"
	OpRejectVerification  Operation = "withdraw_verification"
	OpPublish             Operation = "publish"
	OpPause               Operation = "pause"
	OpResume              Operation = "resume"
	OpSuspend             Operation = "suspend"
	OpUnsuspend           Operation = "unsuspend"
	OpRequestWithdrawal   Operation = "request_withdrawal"
	OpWithdraw            Operation = "withdraw"
	OpRotateKey           Operation = "rotate_key"
	OpRevokeKey           Operation = "revoke_key"
	OpRevokeEntity        Operation = "revoke_entity"
	OpRevokeDigest        Operation = "revoke_digest"
	OpCreateToken         Operation = "create_token"
	OpRevokeToken         Operation = "revoke_token"
	OpCreateOperatorToken Operation = "create_operator_token"
	OpRevokeOperatorToken Operation = "revoke_operator_token"
	OpDelegate            Operation = "delegate"
	OpSetQuota            Operation = "set_quota"
	OpSetHost             Operation = "set_host"
	OpRemoveHost          Operation = "remove_host"
	OpPrepareRegistryKey  Operation = "prepare_registry_key"
	OpInstallRegistryKey  Operation = "install_registry_key"
	OpRevokeRegistryKey   Operation = "revoke_registry_key"
	OpListPublishers      Operation = "list_publishers"
	OpReadPublisher       Operation = "read_publisher"
	OpLint                Operation = "lint"
	OpCoverage            Operation = "coverage"
	OpReadReadings        Operation = "read_readings"
	OpReadAudit           Operation = "read_audit"
	OpReadRegistryAudit   Operation = "read_registry_audit"
	OpReadTokens          Operation = "read_tokens"
	OpReadOperatorTokens  Operation = "read_operator_tokens"
	OpReadProofs          Operation = "read_proofs"
	OpReadKeys            Operation = "read_keys"
	OpReadRegistryKeys    Operation = "read_registry_keys"
)

// OperatorMay says when an operator may do something.
type OperatorMay string

// The values of OperatorMay.
const (
	Never     OperatorMay = "never"
	Always    OperatorMay = "always"
	Delegated OperatorMay = "delegated" // while the publisher's owner has delegated editing
	Local     OperatorMay = "local"     // while delegated, and only on the machine's own command line: no token is enough
	Second    OperatorMay = "second"    // an operator other than the one who did the first half
)

// Rule says who may do one operation.
type Rule struct {
	Operation Operation
	Registry  bool // it concerns the registry and no publisher
	Operator  OperatorMay
	Owner     string // scope an owner's token needs, ScopeAny, or "" when no owner may
}

// Rules is the whole of authorisation: an operation that has no row is refused to everybody. The machine's owner on the command line is an operator.
var Rules = []Rule{
	{OpCreatePublisher, true, Always, ""},
	{OpImport, false, Delegated, ScopeImport},
	{OpSetProfile, false, Delegated, ScopeImport},
	{OpSetSchema, false, Delegated, ScopeImport},
	{OpSetLocations, false, Delegated, ScopeImport},
	{OpSetCalendar, false, Delegated, ScopeImport},
	{OpPushReadings, false, Delegated, ScopeLive},
	{OpStartProof, false, Local, ScopePublish},
	{OpCheckProof, false, Local, ScopePublish},
	{OpRecordVerification, false, Always, ""},
	{OpConfirmVerification, false, Second, ""},
	{OpRejectVerification, false, Always, ""},
	{OpPublish, false, Local, ScopePublish},
	{OpPause, false, Local, ScopePublish},
	{OpResume, false, Local, ScopePublish},
	{OpSuspend, false, Always, ""},
	{OpUnsuspend, false, Always, ""},
	{OpRequestWithdrawal, false, Never, ScopePublish},
	{OpWithdraw, false, Always, ""},
	{OpRotateKey, false, Always, ScopeKeys},
	{OpRevokeKey, false, Always, ScopeKeys},
	{OpRevokeEntity, false, Always, ScopeKeys},
	{OpRevokeDigest, false, Always, ScopeKeys},
	{OpCreateToken, false, Always, ScopeAny},
	{OpRevokeToken, false, Always, ScopeAny},
	{OpCreateOperatorToken, true, Always, ""},
	{OpRevokeOperatorToken, true, Always, ""},
	{OpDelegate, false, Never, ScopeImport},
	{OpSetQuota, false, Always, ""},
	{OpSetHost, false, Always, ""},
	{OpRemoveHost, false, Always, ""},
	{OpPrepareRegistryKey, true, Always, ""},
	{OpInstallRegistryKey, true, Always, ""},
	{OpRevokeRegistryKey, true, Always, ""},
	{OpListPublishers, true, Always, ""},
	{OpReadPublisher, false, Always, ScopeAny},
	{OpLint, false, Always, ScopeAny},
	{OpCoverage, false, Always, ScopeAny},
	{OpReadReadings, false, Always, ScopeAny},
	{OpReadAudit, false, Always, ScopeAny},
	{OpReadRegistryAudit, true, Always, ""},
	{OpReadTokens, false, Always, ScopeAny},
	{OpReadOperatorTokens, true, Always, ""},
	{OpReadProofs, false, Always, ScopeAny},
	{OpReadKeys, false, Always, ScopeAny},
	{OpReadRegistryKeys, true, Always, ""},
}

func ruleFor(op Operation) (Rule, bool) {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.Operation == op })
	if i < 0 {
		return Rule{}, false
	}
	return Rules[i], true
}

type role int

const (
	roleNobody role = iota
	roleOperator
	roleOwner
	roleRegistry // the background work of the registry itself
)

// Actor is who asks. The zero value is nobody and may do nothing. Only [Machine] and [Registry.Authenticate] make others.
type Actor struct {
	role      role
	local     bool   // the machine's own command line
	id        string // a label, or the id of a token
	publisher string
	scopes    []string
	hash      [32]byte // of the token, zero for a label
}

var label = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// Machine is the owner of the machine on the command line: an operator under a label. A label that looks like a token's id is refused.
func Machine(name string) (Actor, error) {
	if !label.MatchString(name) || strings.HasPrefix(name, tokenIDPrefix) {
		return Actor{}, invalid("invalid_operator", "an operator's name has 1 to 64 characters of A-Z a-z 0-9 . _ @ -, begins with a letter or digit, and does not begin with %s", tokenIDPrefix)
	}
	return Actor{role: roleOperator, local: true, id: name}, nil
}

var theRegistry = Actor{role: roleRegistry}

// String is the actor as the audit trail names it: "operator NAME", "owner TOKEN-ID" or "registry".
func (a Actor) String() string {
	switch a.role {
	case roleOperator:
		return "operator " + a.id
	case roleOwner:
		return "owner " + a.id
	case roleRegistry:
		return "registry"
	}
	return "nobody"
}

// Operator reports whether the actor is an operator.
func (a Actor) Operator() bool { return a.role == roleOperator }

// Publisher is the publisher that an owner's token belongs to, "" for everybody else.
func (a Actor) Publisher() string { return a.publisher }

// Authenticate finds out whose token this is. Every refusal is the same error, unauthorized.
func (r *Registry) Authenticate(ctx context.Context, bearer string) (Actor, error) {
	if !strings.HasPrefix(bearer, operatorPrefix) && !strings.HasPrefix(bearer, ownerPrefix) {
		return Actor{}, unauthorized() // what is no token costs no look at the store
	}
	hash := sha256.Sum256([]byte(bearer))
	var row *TokenRow
	err := r.store.View(ctx, func(rd Reader) (err error) {
		row, err = rd.Token(ctx, hash)
		return err
	})
	if errors.Is(err, ErrNotFound) || err == nil && !row.RevokedAt.IsZero() {
		return Actor{}, unauthorized()
	}
	if err != nil {
		return Actor{}, storeError(err)
	}
	a := Actor{role: roleOwner, id: row.ID, publisher: row.Publisher, scopes: row.Scopes, hash: hash}
	if row.Publisher == "" {
		a.role = roleOperator
	}
	return a, nil
}

// may is what can be said without the store: role, tenant and scope. The order matters: a token of another publisher learns nothing, not even whether the
// publisher it names exists.
func (a Actor) may(op Operation, slug string) error {
	rule, ok := ruleFor(op)
	if !ok || rule.Registry != (slug == "") {
		return unauthorized()
	}
	switch a.role {
	case roleRegistry:
		return nil
	case roleOperator:
		if rule.Operator == Never || rule.Operator == Local && !a.local {
			return refusal(KindForbidden, "owner_only", "only the publisher's owner may do this")
		}
		return nil
	case roleOwner:
		switch {
		case slug == "" || a.publisher != slug:
			return unauthorized()
		case rule.Owner == "":
			return refusal(KindForbidden, "operator_only", "only an operator may do this")
		case rule.Owner != ScopeAny && !slices.Contains(a.scopes, rule.Owner):
			return refusal(KindForbidden, "scope_missing", "the token does not have the scope %s", rule.Owner).next("use a token with this scope")
		}
		return nil
	}
	return unauthorized()
}

// alive reads an actor's token again inside a transaction, so that a revocation that was committed first wins.
func (a Actor) alive(ctx context.Context, rd Reader) error {
	if a.hash == [32]byte{} {
		return nil
	}
	row, err := rd.Token(ctx, a.hash)
	switch {
	case errors.Is(err, ErrNotFound):
		return unauthorized()
	case err != nil:
		return err
	case !row.RevokedAt.IsZero() || row.Publisher != a.publisher:
		return unauthorized()
	}
	return nil
}

// delegation is the part of a rule that the publisher's row decides.
func (a Actor) delegation(op Operation, row *PublisherRow) error {
	rule, _ := ruleFor(op)
	if a.role == roleOperator && (rule.Operator == Delegated || rule.Operator == Local) && !row.Delegated {
		return refusal(KindForbidden, "not_delegated", "the owner of %s has not delegated this to operators", row.Slug).next("use a token of the publisher, or have its owner delegate")
	}
	return nil
}
