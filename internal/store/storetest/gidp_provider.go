package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
)

// Provider is providerhttp.Rows in memory.
type Provider struct {
	mu       sync.Mutex // guards everything below
	position int64
	rows     map[provider.Ref]feedRow
	reports  map[reportKey]providerhttp.Report
	bans     map[banKey]providerhttp.Ban
	secret   *[32]byte
}

// feedRow is a row with its place in the feed.
type feedRow struct {
	provider.Row
	position int64
}

type reportKey struct {
	ref      provider.Ref
	reporter provider.Thumbprint
}

type banKey struct {
	key     provider.Thumbprint
	network string
}

// NewProvider returns the empty rows of a provider.
func NewProvider() providerhttp.Rows {
	return &Provider{rows: map[provider.Ref]feedRow{}, reports: map[reportKey]providerhttp.Report{}, bans: map[banKey]providerhttp.Ban{}}
}

// copyRow shares nothing with the row it was made from.
func copyRow(r provider.Row) provider.Row {
	if r.Labels != nil {
		labels := make(map[string][]string, len(r.Labels))
		for dim, list := range r.Labels {
			labels[dim] = slices.Clone(list)
		}
		r.Labels = labels
	}
	return r
}

// All implements providerhttp.Rows.
func (p *Provider) All(ctx context.Context) (iter.Seq2[provider.Row, error], int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := chosen(p.rows, func(r feedRow) bool { return !r.Withdrawn }, func(a, b feedRow) int { return bytes.Compare(a.Ref[:], b.Ref[:]) })
	return func(yield func(provider.Row, error) bool) {
		for _, r := range rows {
			if !yield(copyRow(r.Row), ctx.Err()) {
				return
			}
		}
	}, p.position, nil
}

// Commit implements providerhttp.Rows.
func (p *Provider) Commit(ctx context.Context, row provider.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if row.Withdrawn {
		row.Endpoint, row.Labels = "", nil
	} else if err := cmp.Or(key(row.Endpoint, 2048), text(slices.Collect(maps.Keys(row.Labels))...),
		text(slices.Concat(slices.Collect(maps.Values(row.Labels))...)...)); err != nil {
		return err
	}
	if row.Revision == 0 || row.Revision == 1 && row.Withdrawn || row.Expires.IsZero() {
		return errors.New("a projection has a revision, is published before it is withdrawn, and expires")
	}
	micros(&row.Expires)
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, ok := p.rows[row.Ref]
	if ok && (kept.Withdrawn || kept.Owner != row.Owner || row.Revision != kept.Revision+1) || !ok && row.Revision != 1 {
		return providerhttp.ErrStale
	}
	for ref, other := range p.rows {
		if ref != row.Ref && !other.Withdrawn && (other.Owner == row.Owner || !row.Withdrawn && other.Endpoint == row.Endpoint) {
			return providerhttp.ErrStale
		}
	}
	p.position++
	p.rows[row.Ref] = feedRow{copyRow(row), p.position}
	return nil
}

// Projection implements providerhttp.Rows.
func (p *Provider) Projection(_ context.Context, ref provider.Ref) (provider.Row, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row, ok := p.rows[ref]
	return copyRow(row.Row), ok, nil
}

// OfKey implements providerhttp.Rows: the row that is not withdrawn, else the one that was withdrawn last.
func (p *Provider) OfKey(_ context.Context, key provider.Thumbprint) (provider.Row, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := chosen(p.rows, func(r feedRow) bool { return r.Owner == key }, func(a, b feedRow) int {
		if a.Withdrawn != b.Withdrawn {
			if b.Withdrawn {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.position, a.position)
	})
	if len(rows) == 0 {
		return provider.Row{}, false, nil
	}
	return copyRow(rows[0].Row), true, nil
}

// Changes implements providerhttp.Rows.
func (p *Provider) Changes(ctx context.Context, position int64, limit int) (out []provider.Row, next int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, position, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next = position
	for _, r := range chosen(p.rows, func(r feedRow) bool { return r.position > position }, func(a, b feedRow) int { return cmp.Compare(a.position, b.position) }) {
		if len(out) < limit {
			out, next = append(out, copyRow(r.Row)), r.position
		}
	}
	return out, next, nil
}

// Expire implements providerhttp.Rows.
func (p *Provider) Expire(_ context.Context, before time.Time, limit int) error {
	if limit <= 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	micros(&before)
	rows := chosen(p.rows, func(r feedRow) bool { return r.Expires.Before(before) }, func(a, b feedRow) int {
		return cmp.Or(a.Expires.Compare(b.Expires), bytes.Compare(a.Ref[:], b.Ref[:]))
	})
	for _, r := range rows[:min(limit, len(rows))] {
		delete(p.rows, r.Ref)
	}
	maps.DeleteFunc(p.reports, func(_ reportKey, r providerhttp.Report) bool { _, kept := p.rows[r.Ref]; return !kept })
	return nil
}

// AddReport implements providerhttp.Rows.
func (p *Provider) AddReport(_ context.Context, r providerhttp.Report) error {
	if err := key(r.Reason, 255); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	micros(&r.At)
	p.reports[reportKey{r.Ref, r.Reporter}] = r
	return nil
}

// Reports implements providerhttp.Rows.
func (p *Provider) Reports(_ context.Context, limit int) ([]providerhttp.Report, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := chosen(p.reports, func(providerhttp.Report) bool { return true }, func(a, b providerhttp.Report) int {
		return cmp.Or(b.At.Compare(a.At), bytes.Compare(a.Ref[:], b.Ref[:]), bytes.Compare(a.Reporter[:], b.Reporter[:]))
	})
	return rows[:max(0, min(limit, len(rows)))], nil
}

// PutBan implements providerhttp.Rows.
func (p *Provider) PutBan(_ context.Context, b providerhttp.Ban) error {
	if err := texts(nil, b.Network, b.Reason); err != nil {
		return err
	}
	if (b.Key == provider.Thumbprint{}) == (b.Network == "") || b.At.IsZero() {
		return errors.New("a ban is of a key or of a network, at an instant")
	}
	micros(&b.Until, &b.At)
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.bans, func(_ banKey, old providerhttp.Ban) bool { return !old.Until.After(b.At) })
	k := banKey{b.Key, b.Network}
	if delete(p.bans, k); b.Until.After(b.At) {
		p.bans[k] = b
	}
	return nil
}

// Bans implements providerhttp.Rows: keys, then networks.
func (p *Provider) Bans(context.Context) ([]providerhttp.Ban, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return chosen(p.bans, func(providerhttp.Ban) bool { return true }, func(a, b providerhttp.Ban) int {
		return cmp.Or(strings.Compare(a.Network, b.Network), bytes.Compare(a.Key[:], b.Key[:]))
	}), nil
}

// Secret implements providerhttp.Rows.
func (p *Provider) Secret(_ context.Context, fresh [32]byte) ([32]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.secret == nil {
		p.secret = &fresh
	}
	return *p.secret, nil
}

var _ providerhttp.Rows = (*Provider)(nil)
