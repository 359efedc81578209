package cli

import (
	"os"
	"path/filepath"
	"testing"

	"sayso/internal/config"
)

// Servers of one folder find each other's files: whichever begins or ends first, each kind of command is led to its own.
func TestServersOfOneFolder(t *testing.T) {
	figures := instance{Listen: "127.0.0.1:1", Admin: "127.0.0.1:2", Origin: "http://127.0.0.1:1", PID: 1}
	agent := instance{Listen: "127.0.0.1:3", Admin: "127.0.0.1:4", Origin: "http://127.0.0.1:3", PID: 2, Interests: true}
	const nobody = "http://127.0.0.1:8470"
	for name, order := range map[string][2]instance{"figures first": {figures, agent}, "interests first": {agent, figures}} {
		for _, endsFirst := range []int{0, 1} {
			folder := t.TempDir()
			e := &env{config: &config.Config{Data: folder, Listen: "127.0.0.1:8470", Admin: "127.0.0.1:8471"}}
			want := func(when, admin, served, endpoints string) {
				t.Helper()
				if a, s, i := e.findInstance(), e.servedOrigin(instanceFile), e.servedOrigin(interestsFile); a != admin || s != served || i != endpoints {
					t.Errorf("%s, %s: private %s, served at %s, endpoints at %s", name, when, a, s, i)
				}
			}
			var ends [2]func()
			for n, one := range order {
				end, err := announce(folder, one)
				if err != nil {
					t.Fatal(err)
				}
				ends[n] = end
			}
			want("both run", figures.Admin, figures.Origin, agent.Origin)
			ends[endsFirst]()
			if order[endsFirst].Interests {
				want("the agent has ended", figures.Admin, figures.Origin, nobody)
			} else {
				want("the agent is left", agent.Admin, nobody, agent.Origin)
			}
			ends[1-endsFirst]()
			want("both have ended", e.config.Admin, nobody, nobody)
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%s: %v is left in %s: %v", name, left, filepath.Base(folder), err)
			}
		}
	}
}
