package dataset

import (
	"strings"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
)

// text is a YAML scalar, "" (left out) for the empty string.
func text(s string) string {
	if s == "" {
		return ""
	}
	return yamlx.Quote(s)
}

// valueBlock writes a dated value as the lines of its item; unit is the fact's, written only where the value's differs.
func valueBlock(v *Value, unit string) string {
	own := ""
	if v.Unit != unit {
		own = "null"
		if v.Unit != "" {
			own = yamlx.Quote(v.Unit)
		}
	}
	return yamlx.Block(
		yamlx.Field{Name: "period", Text: text(v.Period)},
		yamlx.Field{Name: "value", Text: yamlx.FromJSON(string(v.Value))},
		yamlx.Field{Name: "unit", Text: own},
		yamlx.Field{Name: "effectiveFrom", Text: v.From.String()},
		yamlx.Field{Name: "effectiveTo", Text: v.To.String()},
		yamlx.Field{Name: "source", Text: text(v.Source)},
		yamlx.Field{Name: "sourceFile", Text: text(v.SourceFile)},
		yamlx.Field{Name: "sourceType", Text: text(v.SourceType)},
		yamlx.Field{Name: "method", Text: text(v.Method)},
		yamlx.Field{Name: "quote", Text: text(v.Quote)},
		yamlx.Field{Name: "verifiedDate", Text: v.Verified.String()},
		yamlx.Field{Name: "nextCheck", Text: v.NextCheck.String()},
		yamlx.Field{Name: "withdrawn", Text: v.Withdrawn.String()},
		yamlx.Field{Name: "withdrawnReason", Text: text(v.WithdrawnReason)},
		yamlx.Field{Name: "supersededBy", Text: text(v.SupersededBy)},
		yamlx.Field{Name: "checked", Text: v.Checked.String()},
		yamlx.Field{Name: "upstream", Text: text(v.Upstream)},
	)
}

// factBlock writes a fact as the lines of its item under a topic prefix.
func factBlock(f *Fact, prefix string) string {
	key := f.Key
	switch rest, under := strings.CutPrefix(f.Key, prefix+"/"); {
	case prefix == "":
	case f.Key == prefix:
		key = "."
	case under:
		key = rest
	}
	var b strings.Builder
	b.WriteString(yamlx.Block(
		yamlx.Field{Name: "key", Text: yamlx.Quote(key)},
		yamlx.Field{Name: "label", Text: text(f.Label)},
		yamlx.Field{Name: "unit", Text: text(f.Unit)},
		yamlx.Field{Name: "scope", Text: text(f.Scope)},
	))
	if len(f.Aliases) > 0 {
		quoted := make([]string, len(f.Aliases))
		for i, a := range f.Aliases {
			quoted[i] = yamlx.Quote(a)
		}
		b.WriteString("aliases: [" + strings.Join(quoted, ", ") + "]\n")
	}
	if p := f.Previous; p != nil {
		b.WriteString("previous:\n")
		for line := range strings.Lines(valueBlock(&Value{DatedValue: facts.DatedValue{Value: p.Value, Period: p.Period, From: p.From, Source: p.Source}}, "")) {
			b.WriteString("  " + line)
		}
	}
	b.WriteString("values:\n")
	for i := range f.Values {
		b.WriteString(yamlx.Item("  ", valueBlock(&f.Values[i], f.Unit)))
	}
	return b.String()
}

// AppendTopic appends a whole topic or candidate file. A topic without prefix is written without its topic block, as candidate files may be. An importer
// fills Topic{Prefix, Title, Area, Synonyms, Facts} with values that have no Verified and writes the result below candidates/.
func AppendTopic(dst []byte, t *Topic) []byte {
	var b strings.Builder
	if t.Prefix != "" {
		b.WriteString("topic: {prefix: " + yamlx.Quote(t.Prefix) + ", title: " + yamlx.Quote(t.Title) + ", area: " + yamlx.Quote(t.Area) + "}\n")
	}
	if len(t.Synonyms) > 0 {
		b.WriteString("synonyms:\n")
		for _, s := range t.Synonyms {
			b.WriteString("  " + yamlx.Quote(s.Phrase) + ": " + yamlx.Quote(s.Segment) + "\n")
		}
	}
	b.WriteString("facts:\n")
	for i := range t.Facts {
		b.WriteString(yamlx.Item("  ", factBlock(&t.Facts[i], t.Prefix)))
	}
	return append(dst, b.String()...)
}
