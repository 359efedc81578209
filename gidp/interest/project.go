package interest

import (
	"errors"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The members of a projection that are derived, and the key each is derived from without a derivative.
var members = map[string]string{"categories": "category", "domains": "domain", "geographies": "geography"}

// Projection says what a projection is made for. The identifiers and the endpoint are fresh for each projection, and link it to nothing.
type Projection struct {
	ProjectionID string
	Endpoint     string
	ExpiresAt    time.Time // rounded to a day by the caller
	Domain       string    // "": any provider; else a provider inside this trust domain
}

// Errors of a projection.
var (
	ErrNothing    = errors.New("no attribute may appear in a projection: class one public or discovery, or list a derivative")
	ErrNotAllowed = errors.New("PUBLISH_PROJECTION does not permit it")
)

// Project derives a projection (§11.2): only attributes that are public or discovery, network ones inside their trust domain, and listed derivatives of
// others, generalised. approved is the Principal's approval, where the authority asks for one.
func (i *Interest) Project(p *gidp.Profile, to Projection, approved bool) (*wire.DiscoveryProjection, error) {
	permission := i.authority().At(gidp.PublishProjection)
	if permission == gidp.No || permission == gidp.Approval && !approved {
		return nil, ErrNotAllowed
	}
	o := &wire.DiscoveryProjection{ExpiresAt: to.ExpiresAt, ProjectionID: to.ProjectionID, Endpoint: to.Endpoint, Relation: []string{wire.Complementary}}
	into := map[string]*[]string{"categories": &o.Categories, "domains": &o.Domains, "geographies": &o.Geographies}
	found := false
	for member, list := range into {
		*list = i.projected(p, member, to.Domain)
		found = found || len(*list) > 0
	}
	if !found {
		return nil, ErrNothing
	}
	return o, nil
}

// projected is one member: the labels of its key if they may appear, else those of its derivative.
func (i *Interest) projected(p *gidp.Profile, member, domain string) []string {
	anybody := gidp.Counterparty{}
	if domain != "" {
		anybody.Member = []string{domain}
	}
	fits := func(c gidp.Class, key string) bool {
		return !c.Never && c.Gate == gidp.Ungated && (c.Surface >= gidp.Discovery || c.Surface == gidp.Network && domain != "" && i.member(key, anybody))
	}
	key := members[member]
	if labels := i.labels(key); !p.Identifying(key) && fits(i.Policy.Entries[key].For(anybody), key) && len(labels) > 0 {
		return bounded(labels)
	}
	d, ok := i.Policy.Derivatives[member]
	if !ok || p.Identifying(d.From) || !fits(d.Class, d.From) || i.Policy.Entries[d.From].For(anybody).Never {
		return nil
	}
	k := p.Keys[d.From]
	tree, err := k.Tree.With(i.Placements[d.From])
	if err != nil {
		return nil
	}
	var out []string
	for _, label := range i.labels(d.From) {
		node, ok := tree.Generalise(label, d.Cut)
		if !ok || !slices.Contains(d.Cut, node) {
			return nil // a label that the cut does not cover would appear as it is
		}
		out = append(out, node)
	}
	return bounded(out)
}

func (i *Interest) labels(key string) []string {
	raw, ok := i.held(key)
	if !ok {
		return nil
	}
	value, err := gidp.ParseValue(raw)
	if err != nil || !value.OnlyLabels() {
		return nil
	}
	return value.Labels()
}

func bounded(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), wire.MaxList)]
}

func labelsJSON(list []string) jcs.Raw {
	dst := []byte{'['}
	for n, label := range list {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = jcs.AppendString(dst, label)
	}
	return append(dst, ']')
}
