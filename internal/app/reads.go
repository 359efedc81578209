package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

// PublisherDetails is what an operator or the publisher's owner sees. Reason and Account are for operators only.
type PublisherDetails struct {
	Slug        string                     `json:"slug"`
	DisplayName string                     `json:"display_name"`
	Region      string                     `json:"region,omitempty"`
	Lifecycle   business.Lifecycle         `json:"lifecycle"`
	Published   bool                       `json:"published"` // content is served now
	Suspended   bool                       `json:"suspended"`
	Reason      string                     `json:"reason,omitempty"`
	Account     jcs.Raw                    `json:"account,omitempty"`
	Delegated   bool                       `json:"delegated"`
	Incomplete  bool                       `json:"incomplete"`
	Revision    uint64                     `json:"revision"`
	Generation  uint64                     `json:"generation"`
	ContentHash string                     `json:"content_hash"`
	ChangedAt   time.Time                  `json:"changed_at,omitzero"`
	CreatedAt   time.Time                  `json:"created_at"`
	DataUpdated time.Time                  `json:"data_last_updated,omitzero"`
	Records     []RecordCount              `json:"records"`
	Hosts       []string                   `json:"hosts"`
	Quota       Quota                      `json:"quota"` // in force: defaults filled in
	Proof       *ProofView                 `json:"proof,omitempty"`
	Decisions   []DecisionView             `json:"decisions"`
	Revocations []business.RevocationEntry `json:"revocations"`
}

// RecordCount is how many records of a type there are.
type RecordCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// DecisionView is an operator verification; the operators' names are for operators only.
type DecisionView struct {
	Decision    string    `json:"decision"`
	RecordedBy  string    `json:"recorded_by,omitempty"`
	RecordedAt  time.Time `json:"recorded_at"`
	ConfirmedBy string    `json:"confirmed_by,omitempty"`
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"`
	WithdrawnAt time.Time `json:"withdrawn_at,omitzero"`
}

// Publisher reads one publisher.
func (r *Registry) Publisher(ctx context.Context, actor Actor, slug string) (*PublisherDetails, error) {
	var out *PublisherDetails
	err := r.view(ctx, actor, OpReadPublisher, slug, func(rd Reader) error {
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		out, err = r.details(ctx, rd, row, actor.Operator())
		return err
	})
	return out, err
}

func (r *Registry) details(ctx context.Context, rd Reader, row *PublisherRow, operator bool) (*PublisherDetails, error) {
	profile, err := decodeProfile(row.Profile)
	if err != nil {
		return nil, err
	}
	standing, err := standingOf(ctx, rd, row)
	if err != nil {
		return nil, err
	}
	d := &PublisherDetails{
		Slug: row.Slug, DisplayName: profile.DisplayName, Region: row.Region, Lifecycle: row.Lifecycle, Published: standing.IsPublished(r.Now()),
		Suspended: row.Suspended, Delegated: row.Delegated, Incomplete: row.Incomplete, Revision: row.Revision, Generation: row.Generation,
		ContentHash: row.ContentHash, ChangedAt: row.ChangedAt, CreatedAt: row.CreatedAt, DataUpdated: row.DataUpdated,
		Records: []RecordCount{}, Hosts: []string{}, Quota: Quota{Records: row.Quota.records(), Tokens: row.Quota.tokens()}, Decisions: []DecisionView{},
	}
	if operator {
		d.Reason, d.Account = row.Reason, row.Account
	}
	if p := standing.Proof; p != nil {
		d.Proof = &ProofView{Host: p.Host, Method: p.Method, State: proofProven, VerifiedAt: p.VerifiedAt, ValidUntil: p.ValidUntil}
	}
	if d.Revocations, err = rd.Revocations(ctx, row.Slug); err != nil {
		return nil, err
	}
	return d, d.lists(ctx, rd, operator)
}

func (d *PublisherDetails) lists(ctx context.Context, rd Reader, operator bool) error {
	counts, err := rd.RecordCounts(ctx, d.Slug)
	if err != nil {
		return err
	}
	for _, c := range counts {
		d.Records = append(d.Records, RecordCount(c))
	}
	hosts, err := rd.Hosts(ctx)
	if err != nil {
		return err
	}
	for host, slug := range hosts {
		if slug == d.Slug {
			d.Hosts = append(d.Hosts, host)
		}
	}
	slices.Sort(d.Hosts)
	verifications, err := rd.Verifications(ctx, d.Slug)
	for _, v := range verifications {
		view := DecisionView{Decision: v.Decision, RecordedAt: v.RecordedAt, ConfirmedAt: v.ConfirmedAt, WithdrawnAt: v.WithdrawnAt}
		if operator {
			view.RecordedBy, view.ConfirmedBy = v.RecordedBy, v.ConfirmedBy
		}
		d.Decisions = append(d.Decisions, view)
	}
	return err
}

// Lint reads a publisher's content and warns of what is allowed and will be answered badly.
func (r *Registry) Lint(ctx context.Context, actor Actor, slug string) ([]bundle.Problem, error) {
	problems := []bundle.Problem{}
	err := r.view(ctx, actor, OpLint, slug, func(rd Reader) error {
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		profile, err := decodeProfile(row.Profile)
		if err != nil {
			return err
		}
		var schema *business.Schema
		if row.Schema != nil {
			if schema, err = business.ParseSchema(row.Schema); err != nil {
				return err
			}
		}
		var lost error
		found := bundle.Lint(profile, schema, func(yield func(*business.Record) bool) {
			for record, err := range decoded(rd.Records(ctx, slug, "", "", "")) {
				if err != nil {
					lost = err
					return
				}
				if !yield(record) {
					return
				}
			}
		})
		problems = problems[:0]
		if schema != nil {
			problems = append(problems, bundle.CheckProfile(profile, schema, "publisher.json")...)
		}
		problems = append(problems, found...)
		return lost
	})
	return problems, err
}

// PublisherSummary is one line of the list of publishers.
type PublisherSummary struct {
	Slug       string             `json:"slug"`
	Region     string             `json:"region,omitempty"`
	Lifecycle  business.Lifecycle `json:"lifecycle"`
	Published  bool               `json:"published"`
	Suspended  bool               `json:"suspended"`
	Generation uint64             `json:"generation"`
	Revision   uint64             `json:"revision"`
}

// maxPage bounds every list that is read in pages.
const maxPage = 1000

func pageSize(limit int) int {
	if limit <= 0 || limit > maxPage {
		return maxPage
	}
	return limit
}

// ListPublishers lists at most limit publishers behind a slug, in the order of slugs.
func (r *Registry) ListPublishers(ctx context.Context, actor Actor, after string, limit int) ([]PublisherSummary, error) {
	if after != "" && !business.ValidSlug(after) {
		return nil, invalid("invalid_cursor", "the list goes on behind the name of a publisher")
	}
	var out []PublisherSummary
	err := r.view(ctx, actor, OpListPublishers, "", func(rd Reader) error {
		out = []PublisherSummary{}
		rows, err := rd.Publishers(ctx, after, pageSize(limit))
		if err != nil {
			return err
		}
		for i := range rows {
			row := &rows[i]
			standing, err := standingOf(ctx, rd, row)
			if err != nil {
				return err
			}
			out = append(out, PublisherSummary{
				Slug: row.Slug, Region: row.Region, Lifecycle: row.Lifecycle, Published: standing.IsPublished(r.Now()), Suspended: row.Suspended,
				Generation: row.Generation, Revision: row.Revision,
			})
		}
		return nil
	})
	return out, err
}

// AuditEntry is one act of the trail.
type AuditEntry struct {
	Sequence  int64     `json:"sequence"`
	At        time.Time `json:"at"`
	Actor     string    `json:"actor"`
	Action    string    `json:"action"`
	Publisher string    `json:"publisher,omitempty"`
	Target    string    `json:"target,omitempty"`
	OldHash   string    `json:"old_hash,omitempty"`
	NewHash   string    `json:"new_hash,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

// Audit reads at most limit acts on a publisher behind a sequence number. An owner sees what operators did, not which operator and not why.
func (r *Registry) Audit(ctx context.Context, actor Actor, slug string, after int64, limit int) ([]AuditEntry, error) {
	return r.audit(ctx, actor, OpReadAudit, slug, after, limit)
}

// RegistryAudit reads acts on the registry and on every publisher.
func (r *Registry) RegistryAudit(ctx context.Context, actor Actor, after int64, limit int) ([]AuditEntry, error) {
	return r.audit(ctx, actor, OpReadRegistryAudit, "", after, limit)
}

func (r *Registry) audit(ctx context.Context, actor Actor, op Operation, slug string, after int64, limit int) ([]AuditEntry, error) {
	var out []AuditEntry
	err := r.view(ctx, actor, op, slug, func(rd Reader) error {
		out = []AuditEntry{}
		if slug != "" {
			if _, err := rd.Publisher(ctx, slug); err != nil {
				return notPublisher(err)
			}
		}
		rows, err := rd.Audit(ctx, slug, after, pageSize(limit))
		for _, row := range rows {
			entry := AuditEntry(row)
			if !actor.Operator() && !ownAct(row.Actor) {
				entry.Actor, entry.Reason = "operator", ""
				if Operation(row.Action) == OpRecordVerification || Operation(row.Action) == OpConfirmVerification {
					entry.Target = ""
				}
			}
			out = append(out, entry)
		}
		return err
	})
	return out, err
}

// ownAct reports whether an act of a publisher's trail was done by its owner or by the registry itself.
func ownAct(actor string) bool {
	return strings.HasPrefix(actor, "owner ") || actor == theRegistry.String()
}

// TokenView is a token without its secret.
type TokenView struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Scopes    []string  `json:"scopes,omitempty"`
	Parent    string    `json:"parent,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Tokens lists the tokens of a publisher; an owner sees its own token and those made with it.
func (r *Registry) Tokens(ctx context.Context, actor Actor, slug string) ([]TokenView, error) {
	return r.tokens(ctx, actor, OpReadTokens, slug)
}

// OperatorTokens lists the tokens of operators.
func (r *Registry) OperatorTokens(ctx context.Context, actor Actor) ([]TokenView, error) {
	return r.tokens(ctx, actor, OpReadOperatorTokens, "")
}

func (r *Registry) tokens(ctx context.Context, actor Actor, op Operation, slug string) ([]TokenView, error) {
	var out []TokenView
	err := r.view(ctx, actor, op, slug, func(rd Reader) error {
		out = []TokenView{}
		rows, err := rd.Tokens(ctx, slug)
		made := makersOf(rows)
		for _, t := range rows {
			if actor.Operator() || made.descends(t.ID, actor.id) {
				out = append(out, TokenView{ID: t.ID, Name: t.Name, Scopes: t.Scopes, Parent: t.Parent, CreatedAt: t.CreatedAt, RevokedAt: t.RevokedAt})
			}
		}
		return err
	})
	return out, err
}

// ProofView is an attempt to prove a host. The token is not in it: it was shown once.
type ProofView struct {
	ID         string    `json:"id,omitempty"`
	Host       string    `json:"host"`
	Method     string    `json:"method"`
	State      string    `json:"state"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // of the token, while pending
	VerifiedAt time.Time `json:"verified_at,omitzero"`
	ValidUntil time.Time `json:"valid_until,omitzero"`
	NextCheck  time.Time `json:"next_check,omitzero"`
	FailedDays int       `json:"failed_days,omitzero"`
	Observed   jcs.Raw   `json:"observed,omitempty"` // by the newest check
}

// Proofs lists the attempts of a publisher in the order of their beginning.
func (r *Registry) Proofs(ctx context.Context, actor Actor, slug string) ([]ProofView, error) {
	var out []ProofView
	err := r.view(ctx, actor, OpReadProofs, slug, func(rd Reader) error {
		out = []ProofView{}
		rows, err := rd.Proofs(ctx, slug)
		for i := range rows {
			p := &rows[i]
			out = append(out, ProofView{
				ID: p.ID, Host: p.Host, Method: p.Method, State: p.State, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt, VerifiedAt: p.VerifiedAt,
				ValidUntil: p.ValidUntil, NextCheck: p.NextCheck, FailedDays: p.FailedDays, Observed: p.evidence().Observed,
			})
		}
		return err
	})
	return out, err
}

// KeyView is a key of a publisher or of the registry.
type KeyView struct {
	Kid        string    `json:"kid"`
	State      string    `json:"state"` // signing | retired | revoked | expired | root
	CreatedAt  time.Time `json:"created_at"`
	RetiredAt  time.Time `json:"retired_at,omitzero"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
	NotAfter   time.Time `json:"not_after,omitzero"`    // registry keys
	AttestedBy string    `json:"attested_by,omitempty"` // publisher keys: a registry kid
}

// Keys lists the keys of a publisher in the order of creation.
func (r *Registry) Keys(ctx context.Context, actor Actor, slug string) ([]KeyView, error) {
	var out []KeyView
	err := r.view(ctx, actor, OpReadKeys, slug, func(rd Reader) error {
		out = []KeyView{}
		rows, err := rd.Keys(ctx, slug)
		for _, k := range rows {
			v := KeyView{Kid: k.Entry.Kid, State: "signing", CreatedAt: k.CreatedAt, RetiredAt: k.RetiredAt, RevokedAt: k.RevokedAt}
			if a := k.Entry.Attestation; a != nil {
				v.AttestedBy = a.RegistryKid
			}
			switch {
			case !k.RevokedAt.IsZero():
				v.State = "revoked"
			case !k.RetiredAt.IsZero():
				v.State = "retired"
			}
			out = append(out, v)
		}
		return err
	})
	return out, err
}

// RegistryKeyList lists the root and the registry keys.
func (r *Registry) RegistryKeyList(ctx context.Context, actor Actor) ([]KeyView, error) {
	var out []KeyView
	err := r.view(ctx, actor, OpReadRegistryKeys, "", func(rd Reader) error {
		out = []KeyView{}
		rows, err := rd.RegistryKeys(ctx)
		for i := range rows {
			k := &rows[i]
			v := KeyView{Kid: k.Entry.Kid, State: "signing", CreatedAt: k.InstalledAt, RevokedAt: k.RevokedAt, NotAfter: k.notAfter()}
			switch {
			case k.Entry.Role == business.RoleRoot:
				v.State = "root"
			case !k.RevokedAt.IsZero():
				v.State = "revoked"
			case !k.signsAt(r.Now()):
				v.State = "expired"
			}
			out = append(out, v)
		}
		return err
	})
	return out, err
}
