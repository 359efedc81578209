package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sayso/business"
	"sayso/internal/proof"
)

// Options assemble a registry. Store and Keys are required.
type Options struct {
	Store Store
	Keys  Keyring
	// Prover observes hosts; nil means that no domain proof can be checked by this process.
	Prover Prover
	// RefusedTLDs are top level domains under which no host is proven; nil = those that never stand in the public DNS.
	RefusedTLDs []string
	Site        business.Site
	Now         func() time.Time // nil = time.Now
	Log         *slog.Logger     // nil drops every line
	Poll        time.Duration    // how often heads are read, 0 = 250 ms
	// Answers is how many bytes the compiled snapshots of all publishers may take, as this package estimates them; 0 = DefaultAnswers.
	Answers int64
	// Data is the data folder, which Doctor looks at; "" leaves those checks unknown.
	Data string
}

// Registry holds the use cases over one store. All methods may be called at the same time.
type Registry struct {
	store       Store
	keys        Keyring
	prover      Prover
	refusedTLDs []string
	site        business.Site
	clock       func() time.Time
	log         *slog.Logger
	poll        time.Duration
	data        string

	served   served
	resident *resident
	checking sync.Map // "slug host" of the checks that somebody is waiting for
}

// New assembles a registry. It reads nothing yet: [Registry.Refresh] or [Registry.Run] does.
func New(o Options) *Registry {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	if o.RefusedTLDs == nil {
		o.RefusedTLDs = proof.SpecialTLDs()
	}
	return &Registry{
		store: o.Store, keys: o.Keys, prover: o.Prover, refusedTLDs: o.RefusedTLDs, site: o.Site, clock: o.Now, log: o.Log, poll: o.Poll, data: o.Data,
		resident: newResident(cmp.Or(o.Answers, DefaultAnswers)),
	}
}

// Now is the clock of every answer and act: UTC with microseconds, which is what a store keeps.
func (r *Registry) Now() time.Time { return r.clock().UTC().Truncate(time.Microsecond) }

// Site says which origins the deployment answers for.
func (r *Registry) Site() business.Site { return r.site }

// Receipt says what an act committed.
type Receipt struct {
	Publisher  string    `json:"publisher,omitempty"`
	Revision   uint64    `json:"revision"`             // of the publisher, or of the registry
	Generation uint64    `json:"generation,omitzero"`  // of the publisher's content
	At         time.Time `json:"at"`                   // time of the commit
	Repeated   bool      `json:"repeated,omitzero"`    // this operation was committed before; nothing was done now
	Unchanged  bool      `json:"unchanged,omitzero"`   // the content is what it was: no new generation
	Withdrawal string    `json:"withdrawal,omitempty"` // "requested": an operator has to complete it
}

// act describes an act before it runs.
type act struct {
	op        Operation
	slug      string // publisher, "" = the registry
	operation string // identity given by the caller, "" = none
	target    string
	reason    string
	creates   bool // the publisher is made by the act
	final     bool // allowed on a withdrawn publisher too
	holds     bool // takes the head and leaves publisher and revision as they are
	// made finds what the act made, for acts whose answer holds a secret that is shown once. A store may run an act, undo it, and then learn that another
	// call committed the same operation: the answer of the run that was undone must not be given.
	made func(Reader) error
}

// change is one run of an act inside its transaction.
type change struct {
	Writer
	at       time.Time
	actor    Actor
	row      *PublisherRow // nil for acts on the registry
	was      PublisherRow  // the row as it stood before the act
	revision uint64
	audit    AuditRow
	content  bool   // content may have changed: compute it anew
	records  scopes // what the records of an import were read against, nil when none were read
	receipt  *Receipt
}

// commit runs an act: one transaction that takes the head, checks the actor, changes rows, computes the content's state and writes the audit row. What is
// served here is renewed before it returns. f may run more than once.
func (r *Registry) commit(ctx context.Context, actor Actor, a act, f func(*change) error) (*Receipt, error) {
	scope := a.slug
	if a.creates {
		scope = ""
	}
	if err := actor.may(a.op, scope); err != nil {
		return nil, err
	}
	if a.slug != "" && !business.ValidSlug(a.slug) {
		return nil, unknownPublisher()
	}
	var receipt *Receipt
	err := r.store.Update(ctx, operationID(actor, a), func(w Writer) error {
		c := &change{Writer: w, at: r.Now(), actor: actor}
		c.receipt = &Receipt{Publisher: a.slug, At: c.at}
		c.audit = AuditRow{At: c.at, Actor: actor.String(), Action: string(a.op), Publisher: a.slug, Target: a.target, Reason: a.reason}
		if err := c.run(ctx, a, f); err != nil {
			return err
		}
		receipt = c.receipt
		return nil
	})
	if err != nil {
		return nil, r.fault(a, err)
	}
	if receipt == nil || a.operation != "" && a.made != nil && errors.Is(r.store.View(ctx, a.made), ErrNotFound) {
		return r.repeated(ctx, actor, a)
	}
	if !a.holds {
		r.renew(ctx, a.slug)
	}
	return receipt, nil
}

func (c *change) run(ctx context.Context, a act, f func(*change) error) (err error) {
	take := c.Advance
	if a.holds {
		take = c.Hold
	}
	if c.revision, err = take(ctx, a.slug); err != nil {
		return notPublisher(err)
	}
	if err = c.actor.alive(ctx, c); err != nil {
		return err
	}
	if a.slug != "" && !a.creates {
		if c.row, err = c.Publisher(ctx, a.slug); err != nil {
			return notPublisher(err)
		}
		if err = c.actor.delegation(a.op, c.row); err != nil {
			return err
		}
		if c.row.Lifecycle == business.Withdrawn && !a.final {
			return refusal(KindRefused, "withdrawn", "%s was withdrawn for good; only revocations are still possible", a.slug)
		}
		c.audit.OldHash, c.was = c.row.ContentHash, *c.row
	}
	if err = f(c); err != nil {
		return err
	}
	if c.row != nil {
		if !a.holds {
			err = c.settle(ctx)
		}
		if err != nil {
			return err
		}
		c.audit.NewHash = c.row.ContentHash
		c.receipt.Generation = c.row.Generation
	}
	c.receipt.Revision = c.revision
	return c.AppendAudit(ctx, &c.audit)
}

func notPublisher(err error) error {
	if errors.Is(err, ErrNotFound) {
		return unknownPublisher()
	}
	return err
}

// operationID binds the caller's identity of an operation to who asks and to what is asked, so that nobody can use up the identity of somebody else's act.
func operationID(actor Actor, a act) string {
	if a.operation == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(string(a.op) + "\x00" + a.slug + "\x00" + actor.String() + "\x00" + a.operation))
	return hex.EncodeToString(sum[:])
}

// repeated answers an operation that was committed before with the state as it is now.
func (r *Registry) repeated(ctx context.Context, actor Actor, a act) (*Receipt, error) {
	receipt := &Receipt{Publisher: a.slug, At: r.Now(), Repeated: true}
	err := r.store.View(ctx, func(rd Reader) error {
		if err := actor.alive(ctx, rd); err != nil {
			return err
		}
		if a.slug == "" {
			return nil
		}
		row, err := rd.Publisher(ctx, a.slug)
		if err != nil {
			return notPublisher(err)
		}
		receipt.Revision, receipt.Generation = row.Revision, row.Generation
		return nil
	})
	if err != nil {
		return nil, storeError(err)
	}
	return receipt, nil
}

// fault gives the caller the refusal and the log its cause.
func (r *Registry) fault(a act, err error) error {
	err = storeError(err)
	if e := AsError(err); e.cause != nil {
		r.log.Error("act failed", "operation", string(a.op), "publisher", a.slug, "code", e.Code, "cause", e.cause.Error())
	}
	return err
}

// view runs a read for an actor.
func (r *Registry) view(ctx context.Context, actor Actor, op Operation, slug string, f func(Reader) error) error {
	if err := actor.may(op, slug); err != nil {
		return err
	}
	if slug != "" && !business.ValidSlug(slug) {
		return unknownPublisher()
	}
	err := r.store.View(ctx, func(rd Reader) error {
		if err := actor.alive(ctx, rd); err != nil {
			return err
		}
		return f(rd)
	})
	if err != nil {
		return r.fault(act{op: op, slug: slug}, err)
	}
	return nil
}
