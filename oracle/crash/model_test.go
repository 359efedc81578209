package crash

import (
	"maps"

	"sayso/business"
	"sayso/internal/app"
)

// publisher is what the model says about one publisher after its acts.
type publisher struct {
	acts       []act // committed, in the order of revisions
	lifecycle  business.Lifecycle
	name       string
	records    map[string]string // title by id
	generation uint64
	keys       int    // all there ever were
	signing    bool   // one of them signs
	makes      []bool // whether each act made one
	revoking   []act  // in the order of the list
}

// after is the state that the acts of one publisher lead to, beginning with its creation.
func after(acts []act) *publisher {
	p := &publisher{acts: acts, lifecycle: business.Draft, records: map[string]string{}, generation: 1}
	for _, a := range acts {
		before := p.keys
		p.take(a)
		p.makes = append(p.makes, p.keys > before)
	}
	return p
}

func (p *publisher) take(a act) {
	switch a.kind {
	case app.OpCreatePublisher:
		p.name = a.slug
	case app.OpImport:
		p.load(a)
	case app.OpPublish:
		p.lifecycle = business.Published
		if !p.signing {
			p.keys, p.signing = p.keys+1, true
		}
	case app.OpPause:
		p.lifecycle = business.Paused
	case app.OpRotateKey:
		p.keys, p.signing = p.keys+1, true
	case app.OpRevokeKey:
		p.keys, p.revoking = p.keys+1, append(p.revoking, a)
	case app.OpRevokeEntity:
		p.revoking = append(p.revoking, a)
	}
}

func (p *publisher) load(a act) {
	records := a.records()
	if a.merges() {
		records = maps.Clone(p.records)
		maps.Copy(records, a.records())
	}
	if a.name() != p.name || !maps.Equal(records, p.records) {
		p.generation++
	}
	p.name, p.records = a.name(), records
}
