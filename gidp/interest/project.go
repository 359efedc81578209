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
	key := members[member]
	if labels := i.labels(key); !p.Identifying(key) && i.fits(i.Policy.Entries[key].For(anybodyIn(domain)), key, domain) && len(labels) > 0 {
		return bounded(labels)
	}
	d, ok := i.Policy.Derivatives[member]
	if !ok {
		return nil
	}
	return i.derived(p, d, domain)
}

// anybodyIn is a counterparty of whom nothing is known but its trust domain; "" for none.
func anybodyIn(domain string) gidp.Counterparty {
	if domain == "" {
		return gidp.Counterparty{}
	}
	return gidp.Counterparty{Member: []string{domain}}
}

// fits reports whether a class lets an attribute appear at a provider (P-14).
func (i *Interest) fits(c gidp.Class, key, domain string) bool {
	return !c.Never && c.Gate == gidp.Ungated && (c.Surface >= gidp.Discovery || c.Surface == gidp.Network && domain != "" && i.member(key, anybodyIn(domain)))
}

// derived are the labels of a derivative. Those of a key without a tree stand for themselves, where the derivative lists them.
func (i *Interest) derived(p *gidp.Profile, d Derivative, domain string) []string {
	if p.Identifying(d.From) || !i.fits(d.Class, d.From, domain) || i.Policy.Entries[d.From].For(anybodyIn(domain)).Never {
		return nil
	}
	k := p.Keys[d.From]
	tree, err := k.Tree.With(i.Placements[d.From])
	if err != nil {
		return nil
	}
	var out []string
	for _, label := range i.labels(d.From) {
		node, ok := label, true
		if k.Tree != nil || len(i.Placements[d.From]) > 0 {
			node, ok = tree.Generalise(label, d.Cut)
		}
		if !ok || !slices.Contains(d.Cut, node) {
			return nil // a label that the cut does not cover would appear as it is
		}
		out = append(out, node)
	}
	return bounded(out)
}

// Retrieval derives the retrieval attributes that go beside a projection or a query (sec. 12), by key: those that the policy lists as a derivative under their own name, generalised to the
// labels it lists, to a provider inside a trust domain or, with "", to any. nil when there are none. Reading: 0.1 names no retrieval attribute of a profile, so an attribute is one where the
// Principal says so, and is left out where the provider has none of its name.
func (i *Interest) Retrieval(p *gidp.Profile, domain string) map[string][]string {
	var out map[string][]string
	for name, d := range i.Policy.Derivatives {
		if _, member := members[name]; member || !retrievable(p, name, d) {
			continue
		}
		if labels := i.derived(p, d, domain); len(labels) > 0 {
			if out == nil {
				out = map[string][]string{}
			}
			out[name] = labels
		}
	}
	return out
}

// retrievable reports whether a derivative makes a retrieval attribute: a key of labels of the profile, under its own name.
func retrievable(p *gidp.Profile, name string, d Derivative) bool {
	k, known := p.Keys[name]
	_, reserved := gidp.Reserved(name)
	return known && d.From == name && k.Partition == nil && !k.Sensitive && !reserved && !p.Identifying(name) && name != "category" && name != "domain" && name != "geography"
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
