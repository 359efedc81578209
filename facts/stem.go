package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stem is the plural-only stemmer of F§6.2 rule 5 over a lower-case token. The first rule that fits decides.
func stem(token string) string {
	if utf8.RuneCountInString(token) <= 3 || hasDigit(token) {
		return token
	}
	if base, ok := strings.CutSuffix(token, "ies"); ok && utf8.RuneCountInString(token) > 4 {
		return base + "y"
	}
	for _, ending := range [...]string{"sses", "xes", "zes", "ches", "shes"} {
		if strings.HasSuffix(token, ending) {
			return token[:len(token)-len("es")]
		}
	}
	if !strings.HasSuffix(token, "s") {
		return token
	}
	for _, ending := range [...]string{"ss", "us", "is"} {
		if strings.HasSuffix(token, ending) {
			return token
		}
	}
	return token[:len(token)-1]
}

func hasDigit(s string) bool { return strings.IndexFunc(s, unicode.IsDigit) >= 0 }
