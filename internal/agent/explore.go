package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// ExplorationView is one search for counterparties. State is searching (the provider is being asked), probing (sessions go on), done (each is qualified, closed or waits for
// a person) or failed.
type ExplorationView struct {
	ID        string        `json:"id"`
	Principal string        `json:"principal_ref"`
	Interest  string        `json:"interest"`
	Provider  string        `json:"provider"`
	State     string        `json:"state"`
	Started   time.Time     `json:"started"`
	Problem   string        `json:"problem,omitempty"` // of a failed one, why it is tried again, or why it ended early, as a code
	Sessions  []SessionView `json:"sessions"`
}

// The states of an exploration that are kept. Whether probing is over is seen from its sessions.
const (
	searching = "searching"
	probing   = "probing"
	done      = "done"
	failed    = "failed"
)

const (
	maxCandidates = 10 // of one exploration (sec. 12)
	maxPages      = 4
	maxTries      = 6 // of asking the provider
)

// explorationBody is the sealed part of an exploration.
type explorationBody struct {
	Provider string     `json:"provider"`
	Key      jcs.Raw    `json:"key"` // private JWK, fresh for this search
	Object   jcs.Raw    `json:"object"`
	Found    []approach `json:"found,omitempty"`
	Attempts int        `json:"attempts,omitzero"`
	Problem  string     `json:"problem,omitempty"`
	Expands  *place     `json:"expands,omitempty"` // of a search for what a lead hangs on
	// Membership is shown to a provider inside a trust domain.
	Membership string              `json:"membership,omitzero"`
	Beside     map[string][]string `json:"beside,omitempty"` // retrieval attributes
}

// approach is a candidate that a session was opened to, or that could not be resolved.
type approach struct {
	ProjectionRef string `json:"projection_ref"`
	Session       string `json:"session,omitempty"`
}

func explorationPlace(id string) string { return "exploration/" + id }

func (a *Agent) explorationBody(row durable.ExplorationRow) (b explorationBody, err error) {
	err = a.unseal(explorationPlace(row.ID), row.Body, &b)
	return b, err
}

func (a *Agent) putExploration(ctx context.Context, w durable.Writer, row durable.ExplorationRow, b explorationBody) (err error) {
	if row.State != searching && row.ForgetAt.IsZero() {
		row.ForgetAt = a.Now().UTC().Add(keepEnded)
	}
	if row.Body, err = a.seal(explorationPlace(row.ID), b); err != nil {
		return err
	}
	return inside("keep exploration", w.PutExploration(ctx, row))
}

// explorationAudit is what the trail holds of a search.
type explorationAudit struct {
	Interest    string `json:"interest"`
	Exploration string `json:"exploration"`
	Provider    string `json:"provider"`
	Candidates  int    `json:"candidates,omitzero"`
}

// Explore asks a provider for candidates and opens a session to each of at most ten (sec. 12). It returns at once: whoever runs does the work. The Principal who calls it
// approves the search and its query, which holds what a projection of the interest would show and nothing else.
func (a *Agent) Explore(ctx context.Context, id, at string) (ExplorationView, error) {
	fresh, err := a.newSearch(at)
	if err != nil {
		return ExplorationView{}, outward(err)
	}
	var v ExplorationView
	err = a.Store.Update(ctx, func(w durable.Writer) (err error) {
		v, err = a.search(ctx, w, id, fresh)
		return err
	})
	a.kick()
	return v, outward(err)
}

// newSearch is what a search is made of, whatever it is for: drawn before its transaction, which may run more than once.
type newSearch struct {
	id, at  string
	key     *jwk.PrivateKey
	expands *place
}

func (a *Agent) newSearch(at string) (n newSearch, err error) {
	if n.at, err = originOf(at); err != nil {
		return n, err
	}
	if n.id, err = a.newID("x-"); err != nil {
		return n, err
	}
	n.key, err = vault.NewKey(a.Random)
	return n, inside("draw key", err)
}

// search begins a search for an interest.
func (a *Agent) search(ctx context.Context, w durable.Writer, id string, n newSearch) (ExplorationView, error) {
	var none ExplorationView
	h, row, err := a.holding(ctx, w, id)
	if err != nil {
		return none, err
	}
	now := a.Now()
	switch {
	case row.State != string(interest.Active):
		return none, refuse(app.KindRefused, "not_active", "only an active interest looks for others", "activate it: sayso interest activate "+id)
	case !permitted(h, gidp.Search):
		return none, refuse(app.KindRefused, "not_permitted", "SEARCH does not permit it", "supersede the interest by a version with another authority")
	case !permitted(h, gidp.Probe):
		return none, refuse(app.KindRefused, "not_permitted", "PROBE does not permit to ask anybody anything", "supersede the interest by a version with another authority")
	}
	domain, _ := a.Vault.ProviderDomain(n.at)
	object, err := h.QueryIn(domain, now.Add(24*time.Hour))
	if err != nil {
		return none, err
	}
	text, err := wire.Encode(object)
	if err != nil {
		return none, inside("write query", err)
	}
	x := durable.ExplorationRow{ID: n.id, Interest: id, State: searching, At: now.UTC()}
	b := explorationBody{Provider: n.at, Key: n.key.Export(), Object: text, Expands: n.expands, Membership: a.membership(h, n.at, n.key), Beside: h.Retrieval(domain)}
	if err := a.putExploration(ctx, w, x, b); err != nil {
		return none, err
	}
	if err := w.Schedule(ctx, durable.WorkExploration, n.id, now); err != nil {
		return none, inside("schedule", err)
	}
	v := ExplorationView{ID: n.id, Principal: h.Principal(), Interest: id, Provider: n.at, State: searching, Started: x.At, Sessions: []SessionView{}}
	return v, a.audit(ctx, w, h.Lineage(), "provider_contacted", explorationAudit{Interest: id, Exploration: n.id, Provider: n.at})
}

// Exploration says how far a search is.
func (a *Agent) Exploration(ctx context.Context, id string) (ExplorationView, error) {
	var v ExplorationView
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Exploration(ctx, id)
		if errors.Is(err, durable.ErrNotFound) {
			return refuse(app.KindNotFound, "unknown_exploration", "no exploration has this id", "")
		}
		if err != nil {
			return err
		}
		b, err := a.explorationBody(row)
		if err != nil {
			return err
		}
		h, _, err := a.holding(ctx, r, row.Interest)
		if err != nil {
			return err
		}
		v = ExplorationView{ID: id, Principal: h.Principal(), Interest: row.Interest, Provider: b.Provider, State: row.State, Started: row.At, Problem: b.Problem, Sessions: []SessionView{}}
		over := true
		for _, f := range b.Found {
			if f.Session == "" {
				continue
			}
			s, err := r.Session(ctx, f.Session)
			if errors.Is(err, durable.ErrNotFound) {
				continue // closed long ago, and forgotten
			}
			if err != nil {
				return err
			}
			one, err := a.sessionView(ctx, r, s)
			if err != nil {
				return err
			}
			v.Sessions = append(v.Sessions, one)
			sent, err := r.Sent(ctx, s.ID, 0)
			if err != nil {
				return err
			}
			// An Opportunity that is still here is no lead of the other side.
			undelivered := !s.Closed && slices.ContainsFunc(sent, func(row durable.SentRow) bool { return !row.Acknowledged })
			over = over && settled(one) && !undelivered
		}
		if v.State == probing && over {
			v.State = done
		}
		return nil
	})
	return v, outward(err)
}

// settled reports whether a session needs nothing more of the explorer: it is qualified or closed, or it waits for a person, or every question has its answer.
func settled(s SessionView) bool {
	switch {
	case len(s.Entries) > 0:
		return true
	case s.State == string(session.Requested):
		return false
	case s.State != string(session.Probing):
		return true
	}
	ours := func(q QuestionView) bool { return q.From == "ours" }
	return slices.ContainsFunc(s.Questions, ours) && !slices.ContainsFunc(s.Questions, func(q QuestionView) bool { return ours(q) && q.Result == "" && !q.Expired && !q.Superseded })
}

// tendExploration asks the provider and opens the sessions. Each session is committed together with the candidate it was opened to, so that a candidate is approached once
// whatever happens in between.
func (a *Agent) tendExploration(ctx context.Context, id string) error {
	var row durable.ExplorationRow
	var b explorationBody
	own, busy := map[string]bool{}, map[string]bool{}
	goOn := false
	err := a.Store.Update(ctx, func(w durable.Writer) (err error) {
		goOn = false
		clear(own)
		clear(busy)
		row, err = w.Exploration(ctx, id)
		if errors.Is(err, durable.ErrNotFound) || err == nil && row.State != searching {
			return w.Schedule(ctx, durable.WorkExploration, id, time.Time{})
		}
		if err != nil {
			return err
		}
		if b, err = a.explorationBody(row); err != nil {
			return err
		}
		if b.Expands != nil && !a.MultiParty {
			return a.endSearch(ctx, w, row, b, failed, experimentalOff)
		}
		if a.Providers == nil {
			return w.Schedule(ctx, durable.WorkExploration, id, a.Now().Add(maxBackoff))
		}
		if err := a.taken(ctx, w, b.Provider, row.Interest, own, busy); err != nil {
			return err
		}
		if b.Expands != nil {
			clear(busy)
			if err := a.joined(ctx, w, *b.Expands, busy); err != nil {
				return err
			}
		}
		goOn = true
		return nil
	})
	if err != nil || !goOn {
		return err
	}
	key, err := jwk.ParsePrivate(b.Key)
	if err != nil {
		return inside("read key", err)
	}
	for _, f := range b.Found {
		busy[f.ProjectionRef] = true
	}
	ctx = providerhttp.WithMembership(ctx, b.Membership)
	candidates, err := a.candidates(ctx, b, key, own, busy)
	for _, c := range candidates {
		if err != nil {
			break
		}
		endpoint, ref, failed := a.Providers.Resolve(ctx, b.Provider, key, c.Ref)
		switch {
		case failed == nil && ref == c.ProjectionRef:
			err = a.approach(ctx, id, c.ProjectionRef, endpoint)
		case permanent(failed) || failed == nil: // withdrawn meanwhile, or another one than was found
			err = a.approach(ctx, id, c.ProjectionRef, "")
		default:
			err = failed
		}
		if errors.Is(err, errOver) {
			return nil
		}
	}
	if stored := (*storing)(nil); errors.As(err, &stored) {
		return err // nothing that the provider did; the work is tried again
	}
	return a.searched(ctx, id, err)
}

// taken collects what is not approached: own projections at the provider, and projections that a session of the interest is still open to.
func (a *Agent) taken(ctx context.Context, r durable.Reader, at, id string, own, busy map[string]bool) error {
	rows, err := r.Projections(ctx, "")
	if err != nil {
		return inside("read projections", err)
	}
	for _, row := range rows {
		b, err := a.projectionBody(row)
		if err != nil {
			return err
		}
		if b.Provider == at && b.ProviderRef != "" {
			own[b.ProviderRef] = true
		}
	}
	earlier, err := r.Explorations(ctx, id)
	if err != nil {
		return inside("read explorations", err)
	}
	for _, row := range earlier {
		if ended := row.ForgetAt.Add(-keepEnded); !row.ForgetAt.IsZero() && ended.Before(a.Now().Add(-session.MaxLife)) {
			continue // no session of it can be open
		}
		b, err := a.explorationBody(row)
		if err != nil {
			return err
		}
		for _, f := range b.Found {
			if b.Provider != at || f.Session == "" {
				continue
			}
			s, err := r.Session(ctx, f.Session)
			if err != nil && !errors.Is(err, durable.ErrNotFound) {
				return inside("read session", err)
			}
			if err == nil && !s.Closed {
				busy[f.ProjectionRef] = true
			}
		}
	}
	return nil
}

// candidates asks page by page until there are enough that are neither own nor approached already.
func (a *Agent) candidates(ctx context.Context, b explorationBody, key *jwk.PrivateKey, own, busy map[string]bool) ([]providerhttp.Candidate, error) {
	pub, err := publication(projectionBody{Object: b.Object})
	if err != nil {
		return nil, err
	}
	room := maxCandidates - len(b.Found)
	var out []providerhttp.Candidate
	attributes, err := a.beside(ctx, b.Provider, b.Beside)
	if err != nil {
		return nil, err
	}
	q := providerhttp.Query{Projection: pub.Projection, Attributes: attributes, Limit: min(2*maxCandidates, provider.MaxLimit)}
	for range maxPages {
		if len(out) >= room {
			break
		}
		page, err := a.Providers.Candidates(ctx, b.Provider, key, q)
		if err != nil {
			return nil, err
		}
		for _, c := range page.Candidates {
			if len(out) < room && !own[c.ProjectionRef] && !busy[c.ProjectionRef] {
				busy[c.ProjectionRef] = true
				out = append(out, c)
			}
		}
		if page.Cursor == "" {
			break
		}
		q.Cursor = page.Cursor
	}
	return out, nil
}

// errOver says that an exploration ended while it was worked on.
var errOver = errors.New("the exploration is over")

// approach opens a session to a candidate and notes it, in one transaction. endpoint "" notes a candidate that leads nowhere.
func (a *Agent) approach(ctx context.Context, id, projectionRef, endpoint string) error {
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		row, err := w.Exploration(ctx, id)
		if err != nil {
			return err
		}
		b, err := a.explorationBody(row)
		if err != nil {
			return err
		}
		if row.State != searching {
			return errOver
		}
		if len(b.Found) >= maxCandidates || slices.ContainsFunc(b.Found, func(f approach) bool { return f.ProjectionRef == projectionRef }) {
			return nil // another process was faster
		}
		one := approach{ProjectionRef: projectionRef}
		if endpoint != "" {
			h, of, err := a.holding(ctx, w, row.Interest)
			if err != nil {
				return err
			}
			if of.State != string(interest.Active) {
				return a.endSearch(ctx, w, row, b, failed, "interest_not_active")
			}
			if b.Expands != nil {
				var full string
				if one.Session, full, err = a.openEdge(ctx, w, h, *b.Expands, endpoint, projectionRef); full != "" {
					return a.endSearch(ctx, w, row, b, probing, full)
				}
			} else {
				one.Session, err = a.openSession(ctx, w, h, endpoint, projectionRef)
			}
			if err != nil {
				return err
			}
		}
		b.Found = append(b.Found, one)
		return a.putExploration(ctx, w, row, b)
	})
	a.kick()
	if err != nil {
		return &storing{err}
	}
	return nil
}

// endSearch ends a search that goes no further, and says why.
func (a *Agent) endSearch(ctx context.Context, w durable.Writer, row durable.ExplorationRow, b explorationBody, state, why string) error {
	row.State, b.Problem = state, why
	if err := a.putExploration(ctx, w, row, b); err != nil {
		return err
	}
	return w.Schedule(ctx, durable.WorkExploration, row.ID, time.Time{})
}

// storing is a failure on this side of the network.
type storing struct{ error }

func (s *storing) Unwrap() error { return s.error }

// searched ends the search, or schedules another try.
func (a *Agent) searched(ctx context.Context, id string, failure error) error {
	if failure != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return a.Store.Update(ctx, func(w durable.Writer) error {
		row, err := w.Exploration(ctx, id)
		if err != nil {
			return err
		}
		b, err := a.explorationBody(row)
		if err != nil {
			return err
		}
		due := time.Time{}
		switch {
		case row.State != searching:
		case failure == nil:
			row.State, b.Problem = probing, ""
			h, _, err := a.holding(ctx, w, row.Interest)
			if err != nil {
				return err
			}
			if err := a.audit(ctx, w, h.Lineage(), "provider_answered", explorationAudit{Interest: row.Interest, Exploration: id, Provider: b.Provider, Candidates: len(b.Found)}); err != nil {
				return err
			}
		default:
			b.Attempts++
			b.Problem = problem(failure)
			if permanent(failure) || errors.Is(failure, providerhttp.ErrAnswer) || b.Attempts >= maxTries {
				row.State = failed
				break
			}
			due = a.Now().Add(retryAfter(failure, b.Attempts))
		}
		if err := a.putExploration(ctx, w, row, b); err != nil {
			return err
		}
		if err := w.Schedule(ctx, durable.WorkExploration, id, due); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
		return nil
	})
}
