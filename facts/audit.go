package facts

import "strings"

// The forms of the self-resolution audit (F§6.11).
const (
	FormLabel          = "label"
	FormNamespaceLabel = "namespace label"
	FormAlias          = "alias"
	FormLastSegments   = "last segments"
	FormShortened      = "without a segment"
)

// The outcomes of one form.
const (
	AuditOwn       = "own"       // the form resolves to its key
	AuditAmbiguous = "ambiguous" // several keys fit, so nothing resolves
	AuditMiss      = "miss"      // no key fits
	AuditOther     = "other"     // another key answers: a wrong figure
)

// AuditRow is the outcome of one form of one key (F§6.11).
type AuditRow struct {
	Key, Form string
	Query     string
	Outcome   string
	Rivals    []string // ambiguous: the other keys that fit, at most MaxCandidates; other: the key that answers
}

// AuditForm is one question that its key should answer.
type AuditForm struct{ Form, Query string }

// AuditForms lists the forms of one key: the label, the namespace and the label, each explicit alias, the last two segments as words, and the key without
// each of its middle segments. The checker asks the same ones over HTTP.
func AuditForms(key, label string, aliases []string) []AuditForm {
	forms := []AuditForm{{FormLabel, label}, {FormNamespaceLabel, KeyNamespace(key) + " " + label}}
	for _, alias := range aliases {
		forms = append(forms, AuditForm{FormAlias, alias})
	}
	segments := strings.Split(key, "/")
	last := strings.Join(segments[max(len(segments)-2, 0):], " ")
	forms = append(forms, AuditForm{FormLastSegments, strings.ReplaceAll(last, "-", " ")})
	for i := 1; i < len(segments)-1; i++ {
		rest := append(append([]string(nil), segments[:i]...), segments[i+1:]...)
		forms = append(forms, AuditForm{FormShortened, strings.Join(rest, "/")})
	}
	return forms
}

// Audit runs the self-resolution audit over the given keys (all when nil), in their order, until yield returns false. Keys that are not held are left out.
// AuditOther is an error of the dataset; AuditAmbiguous and AuditMiss for the label are worth a warning.
func (s *Snapshot) Audit(keys []string, today Date, yield func(AuditRow) bool) {
	auditKey := func(fact int32) bool {
		c := s.candidate(fact, today)
		for _, form := range AuditForms(c.Key, c.Label, s.explicitAliases(fact)) {
			row := AuditRow{Key: c.Key, Form: form.Form, Query: form.Query}
			row.Outcome, row.Rivals = s.auditOutcome(fact, form.Query)
			if !yield(row) {
				return false
			}
		}
		return true
	}
	if keys == nil {
		for fact := range s.facts {
			if !auditKey(int32(fact)) {
				return
			}
		}
		return
	}
	for _, key := range keys {
		if fact, ok := s.byKey[key]; ok && !auditKey(fact) {
			return
		}
	}
}

// auditOutcome asks one form. Rivals are what else scores enough to resolve, or stands too close to the key's own score for it to.
func (s *Snapshot) auditOutcome(fact int32, q string) (outcome string, rivals []string) {
	ranking := s.res.rank(q, "", MaxCandidates, s.find)
	if ranking.Best {
		if best := ranking.Hits[0].Entry; best != fact {
			return AuditOther, []string{s.key(best)}
		}
		return AuditOwn, nil
	}
	if len(ranking.Hits) == 0 || ranking.Hits[0].Score < scoreResolve {
		return AuditMiss, nil
	}
	for _, hit := range ranking.Hits {
		if hit.Entry != fact && hit.Score > scoreResolve-scoreLead {
			rivals = append(rivals, s.key(hit.Entry))
		}
	}
	return AuditAmbiguous, rivals
}
