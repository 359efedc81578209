package facts

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"sayso/jcs"
)

// Candidate is one ranked key (F§6.8). Score is in thousandths.
type Candidate struct {
	Key, Label, Unit, Period string
	Verified                 Date
	Score                    int
	Matched                  []string
}

// Match is the resolved member of an auto-resolved record.
type Match struct {
	Score   int
	Matched []string
}

// Resolution is the answer to a question.
type Resolution struct {
	Query      string
	Candidates []Candidate
	Best       *Answer // only under the rule of F§6.7
	Hint       string
}

// The limits of a resolution (F§6.6).
const (
	DefaultCandidates = 5
	MaxCandidates     = 20
)

// Resolve ranks keys for a question or a loose key. Candidates without a score of their own are left out, so the list may be empty. An empty q, one over
// MaxQuery characters, text that is not UTF-8, and a limit outside 1 to MaxCandidates are a *ParameterError; an unknown namespace is an empty list with a hint.
func (s *Snapshot) Resolve(q, namespace string, limit int, today Date) (Resolution, error) {
	switch {
	case strings.TrimSpace(q) == "":
		return Resolution{}, refuse("q", "q is missing or empty; ask a question or name a loose key")
	case len(q) > MaxQuery && utf8.RuneCountInString(q) > MaxQuery:
		return Resolution{}, refuse("q", "q has more than %d characters; ask a shorter question", MaxQuery)
	case !utf8.ValidString(q):
		return Resolution{}, refuse("q", "q is not valid UTF-8; encode the question again")
	case !utf8.ValidString(namespace):
		return Resolution{}, refuse("namespace", "namespace is not valid UTF-8")
	case limit < 1 || limit > MaxCandidates:
		return Resolution{}, refuse("limit", "limit is a whole number from 1 to %d, not %d", MaxCandidates, limit)
	}
	ranking := s.res.rank(q, namespace, limit, s.find)
	r := Resolution{Query: q, Hint: ranking.Hint, Candidates: make([]Candidate, len(ranking.Hits))}
	for i, hit := range ranking.Hits {
		r.Candidates[i] = s.candidate(hit.Entry, today)
		r.Candidates[i].Score, r.Candidates[i].Matched = hit.Score, hit.Matched
	}
	if ranking.Best {
		best := s.answer(ranking.Hits[0].Entry, Selection{MaxAge: NoMaxAge}, today)
		if best.Outcome == OutcomeRecord {
			r.Best = &best
		} else {
			r.Hint = "no value of " + best.Key + " is in force today: pass period or as_of with this key to get one that is held"
		}
	}
	return r, nil
}

// AppendJSON appends the resolution document (F§6.8) as compact JSON without a final line end.
func (r *Resolution) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"protocol":"`+Protocol+`","query":`...)
	dst = append(jcs.AppendString(dst, r.Query), `,"candidates":[`...)
	for i := range r.Candidates {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.Candidates[i].appendJSON(dst)
	}
	dst = append(dst, ']')
	if r.Best != nil {
		dst = r.Best.AppendJSON(append(dst, `,"best":`...))
	}
	if r.Hint != "" {
		dst = jcs.AppendString(append(dst, `,"hint":`...), r.Hint)
	}
	return append(dst, '}')
}

var periodShape = regexp.MustCompile(`\b(19|20)\d\d([-/]\d\d(\d\d)?)?\b`)

// periodHint is the advice of F§5.3 for a question that names a period, "" for any other: years are never guessed into a value.
func periodHint(q string) string {
	if !strings.Contains(q, "19") && !strings.Contains(q, "20") {
		return ""
	}
	if period := periodShape.FindString(foldText(q)); period != "" {
		return "pass period=" + strings.ReplaceAll(period, "/", "-") + " with one of these keys instead of writing the period into the key"
	}
	return ""
}
