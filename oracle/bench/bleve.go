package main

import (
	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"

	"sayso/business"
)

// indexed is what the baseline of the answers knows of a record.
type indexed struct {
	Title   string   `json:"title"`
	Aliases []string `json:"aliases"`
}

// engine makes an empty index in memory.
type engine func(mapping.IndexMapping) (bleve.Index, error)

// inMemory is the engine that bleve offers for an index in memory; scorched is the one it offers for files, kept in memory.
var (
	inMemory engine = bleve.NewMemOnly
	scorched engine = func(m mapping.IndexMapping) (bleve.Index, error) {
		return bleve.NewUsing("", m, scorch.Name, scorch.Name, nil)
	}
)

// newIndex is the baseline: titles and aliases in memory, English, nothing kept that a query does not need, written in one batch.
func newIndex(e engine, records []business.Record) (bleve.Index, error) {
	text := bleve.NewTextFieldMapping()
	text.Analyzer = en.AnalyzerName
	text.Store, text.IncludeTermVectors, text.IncludeInAll, text.DocValues = false, false, false, false
	fields := bleve.NewDocumentStaticMapping()
	fields.AddFieldMappingsAt("title", text)
	fields.AddFieldMappingsAt("aliases", text)
	whole := bleve.NewIndexMapping()
	whole.DefaultMapping = fields
	index, err := e(whole)
	if err != nil {
		return nil, err
	}
	batch := index.NewBatch()
	for i := range records {
		r := &records[i]
		if err := batch.Index(r.ID, indexed{r.Title, r.Aliases}); err != nil {
			return nil, err
		}
	}
	return index, index.Batch(batch)
}

// hits are the ids of the ten best records for a question in words.
func hits(index bleve.Index, text string) ([]string, error) {
	title, aliases := bleve.NewMatchQuery(text), bleve.NewMatchQuery(text)
	title.SetField("title")
	aliases.SetField("aliases")
	found, err := index.Search(bleve.NewSearchRequest(bleve.NewDisjunctionQuery(title, aliases)))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(found.Hits))
	for i, hit := range found.Hits {
		ids[i] = hit.ID
	}
	return ids, nil
}
