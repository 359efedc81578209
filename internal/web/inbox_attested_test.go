package web

import (
	"strings"
	"testing"
	"time"

	"sayso/internal/agent"
)

// What an issuer attests of the other side is shown with whose word it is, and what counts for nothing as such; without a mandate its authority stays unevidenced.
func TestAttestedPeers(t *testing.T) {
	p := agent.PeerView{ID: "p", Finding: "unevidenced", Uncounted: []string{"not_of_this_session", "expired"}}
	for _, property := range []string{"member:guild.example", "attested:broker", "verified_agent"} {
		p.Properties = append(p.Properties, agent.PropertyView{Property: property, Issuer: "kPrK", Expires: time.Date(2031, 1, 27, 0, 0, 0, 0, time.UTC)})
	}
	text := func(p *agent.PeerView) string {
		var b strings.Builder
		for _, line := range peerLines(p) {
			b.WriteString(line.Name + ": " + line.Text + ". " + line.Note + "\n")
		}
		return b.String()
	}
	got := text(&p)
	for _, want := range []string{"a member of guild.example", "attested as broker", "a verified agent", "kPrK", "27 January 2031", "not of this session, expired", "Nothing shows for whom it acts"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "and nothing more") {
		t.Errorf("%s", got)
	}
	p.Mandate, p.Finding = "0a1b", "evidenced by pairwise key"
	if got := text(&p); !strings.Contains(got, "acts under a mandate") || !strings.Contains(got, "a member of guild.example") {
		t.Errorf("%s", got)
	}
	if got := text(&agent.PeerView{Finding: "unevidenced"}); !strings.Contains(got, "and nothing more") {
		t.Errorf("%s", got)
	}
}
