package web

import (
	"bytes"
	"html/template"

	"sayso/facts"
	"sayso/jcs"
)

// maxVariables bounds variableMeasured and maxSources isBasedOn of the Dataset block.
const (
	maxVariables = 500
	maxSources   = 200
)

type thing struct {
	Context string `json:"@context,omitempty"`
	Type    string `json:"@type"`
	Name    string `json:"name,omitempty"`
	URL     string `json:"url,omitempty"`
}

type claimBlock struct {
	Context       string `json:"@context"`
	Type          string `json:"@type"`
	Text          string `json:"text"`
	DatePublished string `json:"datePublished"`
	Appearance    thing  `json:"appearance"`
	Author        thing  `json:"author"`
}

// claimLD is the schema.org Claim of a fact page (F§9.5).
func claimLD(info *facts.Info, label string, v facts.DatedValue) template.JS {
	return jsonLD(claimBlock{
		Context:       "https://schema.org",
		Type:          "Claim",
		Text:          sentence(label, v),
		DatePublished: v.Verified.String(),
		Appearance:    thing{Type: "WebPage", URL: v.Source},
		Author:        thing{Type: "Organization", Name: info.Publisher.Name, URL: info.Publisher.URL},
	})
}

type download struct {
	Type           string `json:"@type"`
	EncodingFormat string `json:"encodingFormat"`
	ContentURL     string `json:"contentUrl"`
}

type variable struct {
	Type     string      `json:"@type"`
	Name     string      `json:"name"`
	Value    facts.Value `json:"value"`
	UnitText string      `json:"unitText,omitempty"`
}

type datasetBlock struct {
	Context          string     `json:"@context"`
	Type             string     `json:"@type"`
	Name             string     `json:"name"`
	Description      string     `json:"description"`
	URL              string     `json:"url"`
	License          string     `json:"license,omitempty"`
	DateModified     string     `json:"dateModified"`
	Creator          thing      `json:"creator"`
	Distribution     []download `json:"distribution"`
	IsBasedOn        []string   `json:"isBasedOn"`
	VariableMeasured []variable `json:"variableMeasured"`
}

// datasetLD is the schema.org Dataset of the index page (F§9.5), bounded.
func datasetLD(info *facts.Info, description, page, data string, entries []facts.IndexEntry) template.JS {
	b := datasetBlock{
		Context:      "https://schema.org",
		Type:         "Dataset",
		Name:         info.Publisher.Name,
		Description:  description,
		URL:          page,
		License:      info.Licence,
		DateModified: info.Newest.String(),
		Creator:      thing{Type: "Organization", Name: info.Publisher.Name, URL: info.Publisher.URL},
		Distribution: []download{{"DataDownload", "application/json", data}},
		IsBasedOn:    info.Sources[:min(len(info.Sources), maxSources)],
	}
	for _, e := range entries[:min(len(entries), maxVariables)] {
		b.VariableMeasured = append(b.VariableMeasured, variable{"PropertyValue", e.Key, e.Value, e.Unit})
	}
	return jsonLD(b)
}

// jsonLD encodes a block so that nothing in it can end the script element: the characters < > & and the two line
// separators leave as escapes, which JSON reads back as the same text.
func jsonLD(block any) template.JS {
	text, err := jcs.Encode(block)
	if err != nil {
		panic(err) // plain structs of strings and canonical values always encode
	}
	for _, e := range []struct{ raw, escaped string }{
		{"<", `\u003c`}, {">", `\u003e`}, {"&", `\u0026`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`},
	} {
		text = bytes.ReplaceAll(text, []byte(e.raw), []byte(e.escaped))
	}
	return template.JS(text)
}
