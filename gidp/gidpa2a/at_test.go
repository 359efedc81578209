package gidpa2a_test

import (
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
)

// What is held back shows in nothing: not in the artifacts, not in the state.
func TestAt(t *testing.T) {
	now := time.Date(2031, 3, 4, 9, 0, 0, 0, time.UTC)
	var artifacts []gidpa2a.Artifact
	for i := range 3 {
		artifacts = append(artifacts, gidpa2a.Artifact{Number: i + 1, Release: now.Add(time.Duration(i) * time.Second)})
	}
	for _, row := range []struct {
		name     string
		closed   bool
		awaiting int
		at       time.Duration
		shown    int
		state    gidpa2a.TaskState
		next     time.Duration // 0: nothing is held back
	}{
		{"nothing yet", false, 0, -time.Second, 0, gidpa2a.Working, 0},
		{"at the instant", false, 0, 0, 1, gidpa2a.Working, time.Second},
		{"a request that is held back", false, 2, time.Second - 1, 1, gidpa2a.Working, time.Second},
		{"a request that is shown", false, 2, time.Second, 2, gidpa2a.InputRequired, 2 * time.Second},
		{"an end that is held back", true, 0, 2*time.Second - 1, 2, gidpa2a.Working, 2 * time.Second},
		{"an end behind a request", true, 2, 2*time.Second - 1, 2, gidpa2a.InputRequired, 2 * time.Second},
		{"the end", true, 2, 2 * time.Second, 3, gidpa2a.Completed, 0},
		{"a number beyond", false, 4, 2 * time.Second, 3, gidpa2a.Working, 0},
	} {
		shown, state, next := gidpa2a.Task{Artifacts: artifacts, Closed: row.closed, Awaiting: row.awaiting}.At(now.Add(row.at))
		held := time.Time{}
		if row.shown < len(artifacts) {
			held = now.Add(row.next)
		}
		if len(shown.Artifacts) != row.shown || cap(shown.Artifacts) != row.shown && row.shown < len(artifacts) || state != row.state || !next.Equal(held) {
			t.Errorf("%s: %d artifacts, %s, next at %v", row.name, len(shown.Artifacts), state, next)
		}
	}
}
