package postgres_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What wire-compatible engines lack or do differently, each with the reason.
var outside = map[string]string{
	`\bgist\b|\bspgist\b|<->|earthdistance`:    "no GiST there",
	`\bgin\b\s*\([^)]*,`:                       "GIN takes one column there",
	`pg_(try_)?advisory`:                       "advisory locks do nothing there",
	`\blisten\b\s+[a-z"]|\bnotify\b|pg_notify`: "no LISTEN and NOTIFY there, and NOTIFY in a transaction serialises commits here",
	`generated\s+(always|by)`:                  "stored generated columns are missing there",
	`\b(small|big)?serial\b`:                   "numbers of a serial are not in the order of commits",
	`\btemp(orary)?\s+table`:                   "temporary tables are missing there",
	`\block\s+table`:                           "LOCK TABLE is missing there",
	`deferrable|initially\s+deferred`:          "deferrable constraints are missing there",
	`create\s+(or\s+replace\s+)?(function|trigger|rule|extension)|\bplpgsql\b`: "code in the database is a second place to look",
	`\bctid\b|\bxmin\b|pg_snapshot|txid_`:                                      "storage of one engine",
}

func TestSQLIsWithinTheCommonSubset(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "migrations/*.sql", "../*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		files = append(files, names...)
	}
	comment := regexp.MustCompile(`(?m)(--|//).*$`)
	for pattern, why := range outside {
		bad := regexp.MustCompile(`(?i)` + pattern)
		for _, name := range files {
			if matched, _ := filepath.Match("*_test.go", filepath.Base(name)); matched {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if hit := bad.Find(comment.ReplaceAll(text, nil)); hit != nil {
				t.Errorf("%s uses %q: %s", name, hit, why)
			}
		}
	}
	for pattern, text := range map[string]string{`\bgin\b\s*\([^)]*,`: "USING gin (a, b)", `\b(small|big)?serial\b`: "id BIGSERIAL"} {
		if outside[pattern] == "" || !regexp.MustCompile(`(?i)`+pattern).MatchString(text) {
			t.Errorf("%q does not find %q", pattern, text)
		}
	}
}
