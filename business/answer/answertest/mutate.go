package answertest

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"sayso/business/coverage"
)

// Mutate changes a question that the oracle resolves in each way of M1 to M12 that applies, and says what the answer may be now.
func Mutate(q *Question, rng *rand.Rand) []*Question {
	if q.Want.Rule != Resolve || q.Shape == "" {
		return nil
	}
	m := mutation{q, rng, languages[q.Lang]}
	var out []*Question
	for _, f := range []func() []*Question{m.absent, m.bound, m.modifier, m.attachment, m.field, m.negation, m.adverb, m.clause, m.currency, m.alias, m.superlative, m.quantity} {
		out = append(out, f()...)
	}
	return out
}

type mutation struct {
	*Question
	rng *rand.Rand
	l   *phrases
}

// make copies the question with other pieces; never is what most mutations expect.
func (m mutation) make(gen, before, entity, after string) *Question {
	return &Question{World: m.World, Gen: gen, Kind: m.Shape + " " + m.Kind, Lang: m.Lang, Before: before, Entity: entity, After: after, Want: Want{Rule: Never}, tell: m.tell}
}

func (m mutation) pick(list []string) string { return list[m.rng.IntN(len(list))] }

// stranger is an absent thing of which no word is known here.
func (m mutation) stranger() string {
	vocabulary := m.World.Vocabulary()
	for {
		if name := m.pick(m.l.absent); len(foreign(vocabulary, name)) == len(contentWords(name)) {
			return name
		}
	}
}

func (m mutation) absent() []*Question { // M1
	if m.Entity == "" || m.Shape == "S5" {
		return nil
	}
	q := m.make("M1", m.Before, m.stranger(), m.After)
	q.Want.Unknown = foreign(m.World.Vocabulary(), q.Entity)
	if m.Shape == "S1" || m.Shape == "S2" || m.Shape == "S4" {
		q.Want.Rule, q.Want.Status = Absent, coverage.NotCovered
	}
	return []*Question{q}
}

func (m mutation) bound() []*Question { // M2
	if m.cmp == nil || m.cmp.B != nil {
		return nil
	}
	set, values, _ := priceOf(m.World, m.record)
	if m.Question.field == "duration" {
		set, values = durationOf(m.record)
	}
	var out []*Question
	for _, factor := range []int64{1, 10} {
		c := *m.cmp
		c.A = new(big.Rat).Add(set.low, big.NewRat(factor*7, 1))
		if m.truth == Yes && (c.Op == "lt" || c.Op == "le") || m.truth == No && (c.Op == "gt" || c.Op == "ge") {
			c.A = new(big.Rat).Quo(set.low, big.NewRat(2*factor, 1))
		}
		q := comparison(m.World, item{m.record, m.Entity, m.Lang}, m.Question.field, m.word, &c, set, values)
		q.Gen, q.Kind = "M2", m.Shape+" "+q.Kind
		out = append(out, q)
	}
	return out
}

func (m mutation) modifier() []*Question { // M3
	if m.Entity == "" || m.Shape == "S5" {
		return nil
	}
	word := m.pick(m.l.modifier)
	entity := word + " " + m.Entity
	if m.l.modifierAfter {
		entity = m.Entity + " " + word
	}
	out := []*Question{m.make("M3", m.Before, entity, m.After)}
	if i := strings.LastIndexByte(m.Entity, ' '); i > 0 {
		out = append(out, m.make("M3", m.Before, m.Entity[:i]+" "+word+m.Entity[i:], m.After))
	}
	for _, q := range out {
		q.Want.Unknown = []string{word}
	}
	return out
}

// unlicensed are the kinds that a shape never takes beside its own pieces.
var unlicensed = map[string][]string{
	"S1": {"day", "place", "term", "attribute", "record"}, "S2": {"day", "place", "term", "attribute", "record", "money"}, "S3": {"day", "place", "attribute", "record", "money"},
	"S4": {"day", "place", "term", "attribute", "record"}, "S5": {"term", "attribute", "record", "money"}, "S6": {"day", "place", "term", "attribute", "record"},
	"S7": {"day", "place", "term", "attribute", "record"}, "S8": {"day", "term", "attribute", "record", "money"},
}

func (m mutation) attachment() []*Question { // M4
	pieces := piecesOf(m.World, m.Lang)
	var out []*Question
	for _, kind := range unlicensed[m.Shape] {
		if kind == "place" && m.World.Schema.Attributes["available"].Field != "" || len(pieces[kind]) == 0 {
			continue
		}
		p := pieces[kind][m.rng.IntN(len(pieces[kind]))]
		if overlapping(m.Text(), p.text) {
			continue
		}
		q := m.make("M4", m.Before, m.Entity, attach(m.After, m.l.preposition[kind]+" "+p.text))
		q.Kind += " x " + kind
		out = append(out, q)
	}
	return out
}

func (m mutation) field() []*Question { // M5
	if m.record == nil {
		return nil
	}
	before, after := split(m.pick(m.l.otherField))
	out := []*Question{m.make("M5", before, m.Entity, after)}
	if _, literals := durationOf(m.record); literals == nil && m.Shape == "S4" {
		before, after = split(m.pick(m.l.duration))
		q := m.make("M5", before, m.Entity, after)
		q.Want.Unknown = []string{"field:duration"}
		out = append(out, q)
	}
	return out
}

func (m mutation) negation() []*Question { // M6
	switch {
	case m.Shape == "S6" && m.Kind == "record x attribute" && len(m.l.without) > 0:
		return []*Question{m.opposite(m.l.without)}
	case m.Shape == "S6" && m.Kind == "record x no attribute":
		return []*Question{m.opposite(m.l.attribute)}
	case m.Shape == "S1":
		before, after := split(m.l.negation)
		q := m.make("M6", before, m.Entity, after)
		q.Want = Want{Rule: Open, Polarity: "positive"}
		return []*Question{q}
	}
	return nil
}

// opposite asks with for without, or the reverse.
func (m mutation) opposite(frames []string) *Question {
	before, after := split(strings.Replace(m.pick(frames), "ATTR", m.word, 1))
	q := m.make("M6", before, m.Entity, after)
	q.Want = Want{Rule: Resolve, Polarity: m.truth.not().polarity()}
	return q
}

func (m mutation) adverb() []*Question { // M7
	if m.Entity == "" || !slices.Contains([]string{"S1", "S2", "S4"}, m.Shape) {
		return nil
	}
	var out []*Question
	for _, frame := range m.l.always {
		before, after := split(frame)
		out = append(out, m.make("M7", before, m.Entity, after))
	}
	return out
}

func (m mutation) clause() []*Question { // M8
	name := m.stranger()
	q := m.make("M8", m.Before, m.Entity, attach(m.After, strings.TrimSpace(m.l.and)+" "+name))
	q.Want.Unknown = foreign(m.World.Vocabulary(), name)
	return []*Question{q}
}

func (m mutation) currency() []*Question { // M9
	if m.cmp == nil || !m.cmp.Currency {
		return nil
	}
	set, values, _ := priceOf(m.World, m.record)
	c := *m.cmp
	c.Unit = otherCurrency(c.Unit)
	q := comparison(m.World, item{m.record, m.Entity, m.Lang}, m.Question.field, m.word, &c, set, values)
	q.Gen, q.Kind = "M9", m.Shape+" "+q.Kind
	return []*Question{q}
}

// alias asks by an alias that the publisher no longer states. It must not be another name of the record in other words.
func (m mutation) alias() []*Question { // M10
	if m.record == nil || m.Shape != "S1" && m.Shape != "S4" || !slices.Contains(m.record.Aliases, m.Entity) {
		return nil
	}
	changed := m.World.Change(func(c *World) {
		for i := range c.Snapshot.Records {
			c.Snapshot.Records[i].Aliases = slices.DeleteFunc(c.Snapshot.Records[i].Aliases, func(a string) bool { return a == m.Entity })
		}
	})
	for _, it := range items(changed) {
		if phraseKey(it.name) == phraseKey(m.Entity) {
			return nil
		}
	}
	q := m.make("M10", m.Before, m.Entity, m.After)
	q.World = changed
	return []*Question{q}
}

func (m mutation) superlative() []*Question { // M11
	return m.frames("M11", m.l.superlative)
}

func (m mutation) quantity() []*Question { // M12
	return m.frames("M12", m.l.quantity)
}

func (m mutation) frames(gen string, frames []string) []*Question {
	if m.record == nil || m.Shape != "S1" && m.Shape != "S4" {
		return nil
	}
	before, after := split(m.pick(frames))
	return []*Question{m.make(gen, before, m.Entity, after)}
}
