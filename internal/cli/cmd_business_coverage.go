package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sayso/business/coverage"
	"sayso/internal/app"
	"sayso/jcs"
)

func init() { register("business", newBusinessCoverage) }

// maxQuestionsFile is the largest file of questions: app.MaxCoverage of the longest, and room for comments.
const maxQuestionsFile = 4 << 20

func newBusinessCoverage(e *env) *cobra.Command {
	var who acting
	var file string
	c := &cobra.Command{
		Use:   "coverage SLUG --questions FILE|-",
		Short: "See which questions a business answers, and what to publish next",
		Long: "Coverage asks questions of the content of a business as it is stored, before or after it is published, by the engine that answers customers. For each question it says how far " +
			"the content answers it and which words are not covered, and why; in the end it lists what to publish next: what most questions ask and nothing covers.\n\n" +
			"The file holds one question a line, in the words of customers; empty lines and lines that begin with # are left out. Or it is a JSON array of texts, or of objects such as " +
			`{"query":"Haben Sie geöffnet?","language":"de"}` + ". At most 1000 questions are taken.\n\n" +
			"Nothing is changed, signed or shown to others. Exit 0, also when questions are not covered: a question that the business does not want to answer is no error.",
		Example: "  sayso business coverage brightwater-opticians --questions questions.txt\n  sayso business coverage brightwater-opticians --questions - --json < questions.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if file == "" {
				return usageError("--questions is missing").withHint("name a file with one question a line, or - for standard input")
			}
			data, err := e.readInput(file, maxQuestionsFile)
			if err != nil {
				return err
			}
			questions, err := readQuestions(data)
			if err != nil {
				return failedError("%s: %v", file, err).withHint("write one question a line, or a JSON array of texts or of objects with query and language")
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				report, err := r.Coverage(e.ctx, as, args[0], questions)
				if err != nil {
					return err
				}
				return e.answer(report, func(w io.Writer) error { return writeCoverage(w, report) })
			})
		},
	}
	c.Flags().StringVar(&file, "questions", "", "file of questions, - for standard input")
	who.add(c.Flags())
	return c
}

// readQuestions reads lines, or a JSON array of texts and objects.
func readQuestions(data []byte) ([]app.CoverageQuestion, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("the file is no text in UTF-8")
	}
	var questions []app.CoverageQuestion
	if !bytes.HasPrefix(data, []byte("[")) {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				questions = append(questions, app.CoverageQuestion{Query: line})
			}
		}
		return questions, nil
	}
	var items []jcs.Raw
	if err := jcs.Decode(data, &items); err != nil {
		return nil, err
	}
	for i, item := range items {
		q, err := readQuestion(item)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		questions = append(questions, q)
	}
	return questions, nil
}

// readQuestion reads a text, or an object with query and language.
func readQuestion(item jcs.Raw) (q app.CoverageQuestion, err error) {
	if text, ok := jcs.Text(item); ok {
		return app.CoverageQuestion{Query: text}, nil
	}
	members, err := jcs.Members(item)
	if err != nil {
		return q, err
	}
	for _, m := range members {
		into, ok := map[string]*string{"query": &q.Query, "language": &q.Language}[m.Name]
		if !ok {
			return q, fmt.Errorf("the member %q is neither query nor language", m.Name)
		}
		if *into, ok = jcs.Text(m.Value); !ok {
			return q, fmt.Errorf("%s is no text", m.Name)
		}
	}
	return q, nil
}

// statusWords say how far a question is answered, to somebody who does not know the statuses.
var statusWords = map[coverage.Status]string{
	coverage.Resolved: "answered", coverage.Partial: "in part", coverage.NeedsContext: "asks back", coverage.NotCovered: "not covered",
}

// polarityWords are what a yes/no question gets.
var polarityWords = map[string]string{"positive": " (yes)", "negative": " (no)", "mixed": " (yes and no)"}

// reasonWords say why a word is not established, by the reasons of the engine.
var reasonWords = map[string]string{
	"unknown_word":               "nothing that is published has it",
	"relation_not_published":     "it is published, and nothing joins it with the rest of the question",
	"not_published":              "no value of it is published",
	"unknown_value":              "what is published does not decide it",
	"out_of_domain":              "it is no term of the list, so the list says nothing about it",
	"narrower_only":              "only one record has it, under a longer name",
	"unit_mismatch":              "it is asked in another unit or currency than is published",
	"unit_missing":               "the question gives a number without a unit",
	"subjective":                 "it asks for a judgement",
	"quantifier":                 "it asks about all, about nothing else, or how many",
	"unsupported_question_form":  "questions of this form are not answered",
	"holiday_rule_not_published": "the opening hours say nothing about public holidays",
	"zone_not_published":         "the location states no time zone",
	"stale":                      "the newest reading is too old",
	"no_coordinates":             "a location states no coordinates",
	"missing_value":              "the customer has to say it",
	"language":                   "nothing is published in the language of the question",
}

// adviceWords say what a business can publish about it, where it is true.
var adviceWords = map[string]string{
	"unknown_word":               "a record, an alias or a yes/no attribute with this word",
	"relation_not_published":     "an attribute that says both together",
	"not_published":              "its value",
	"unknown_value":              "an exact value",
	"out_of_domain":              "the term, in the list or in its domain",
	"narrower_only":              "an alias, where the shorter name means the same",
	"holiday_rule_not_published": "hours for PH in opening_hours",
	"zone_not_published":         "time_zone of the location",
	"stale":                      "readings, more often",
	"no_coordinates":             "latitude and longitude of every location",
	"language":                   "content in this language",
}

// missingWords are what a customer is asked for.
var missingWords = map[string]string{
	"record": "which one is meant", "variant": "which variant is meant", "location": "at which location", "date": "on which day", "caller_location": "where the customer is",
}

func writeCoverage(w io.Writer, report *app.CoverageReport) error {
	p := &printer{w: w}
	for _, a := range report.Answers {
		writeCovered(p, &a)
	}
	t := report.Totals
	p.line("")
	p.line("%s of %s: %d answered, %d in part, %d after asking back, %d not covered", plural(t.Questions, "question"), report.Publisher, t.Resolved, t.Partial, t.NeedsContext, t.NotCovered)
	if t.Refused > 0 {
		p.line("%s not asked", plural(t.Refused, "question"))
	}
	return writeUnstated(p, report.Publish)
}

// writeCovered prints one question, and what is missing for it by reasons.
func writeCovered(p *printer, a *app.CoverageAnswer) {
	const under = "             "
	if a.Refused != "" {
		p.line("%-12s %s", "not asked", a.Query)
		p.line("%s%s", under, a.Refused)
		return
	}
	p.line("%-12s %s%s", statusWords[a.Status], a.Query, polarityWords[a.Polarity])
	for _, name := range a.Missing {
		p.line("%sthe customer is asked %s", under, missingWords[name])
	}
	var reasons []string
	names := map[string][]string{}
	for _, g := range a.Unresolved {
		if g.Reason == "missing_value" {
			continue
		}
		if names[g.Reason] == nil {
			reasons = append(reasons, g.Reason)
		}
		names[g.Reason] = append(names[g.Reason], gapName(g.Text, g.Field, g.Location))
	}
	for _, reason := range reasons {
		p.line("%s%s: %s", under, strings.Join(names[reason], ", "), reasonWords[reason])
	}
}

// shownUnstated is how many words are printed for people; --json has them all.
const shownUnstated = 20

func writeUnstated(p *printer, list []app.CoverageUnstated) error {
	if len(list) == 0 {
		return p.err
	}
	p.line("")
	p.line("publish next, if it is so:")
	var t table
	for _, u := range list[:min(len(list), shownUnstated)] {
		t.add(plural(u.Questions, "question"), gapName(u.Text, u.Field, ""), adviceWords[u.Reason])
	}
	p.table(&t, "  ")
	if more := len(list) - shownUnstated; more > 0 {
		p.line("and %d more; --json has them all", more)
	}
	return p.err
}

// gapName names what is not covered: the words as they were asked, or the field.
func gapName(text, field, location string) string {
	name := field
	switch {
	case text != "" && field != "":
		name = fmt.Sprintf("%s of %q", field, text)
	case text != "":
		name = fmt.Sprintf("%q", text)
	case field == "":
		name = "the question"
	}
	if location != "" {
		name += fmt.Sprintf(" at %q", location)
	}
	return name
}
