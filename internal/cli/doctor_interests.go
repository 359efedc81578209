package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sayso/gidp/interest"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/keyfile"
)

// holdsInterests reports whether the keys of interests lie in the data folder.
func (e *env) holdsInterests() bool {
	_, err := os.Lstat(filepath.Join(e.config.Data, app.KeysFolder, "gidp"))
	return err == nil
}

// interestsChecks examines the interests, when there are any. Some that cannot be opened are a finding, not the end.
func (e *env) interestsChecks(integrity bool) []app.Check {
	if !e.holdsInterests() {
		return nil
	}
	var checks []app.Check
	if !e.holdsRegistry() { // whose checks look at the same keys
		checks = append(checks, app.KeysCheck(e.config.Data), e.interestsSeal())
	}
	err := e.withInterests(func(i *interests) error {
		defer e.patience("examining the interests")()
		found, err := e.interestRows(i, integrity)
		checks = append(checks, found...)
		return err
	})
	if err != nil {
		f := asFailure(e.ctx, err)
		fix := f.hint
		if fix == "" {
			fix = "do what the message says"
		}
		checks = append(checks, finding("interests", app.LevelFailed, "the interests cannot be opened: "+f.message, fix))
	}
	return checks
}

func (e *env) interestsSeal() app.Check {
	if _, err := os.Lstat(filepath.Join(e.config.Data, app.KeysFolder, keyfile.PlainIdentity)); err == nil {
		return finding("seal", app.LevelWarning, "the interests are sealed without a passphrase: whoever reads the folder can read them",
			"interests that count are added with SAYSO_PASSPHRASE_FILE set, in a new folder")
	}
	return finding("seal", app.LevelOK, "the interests are sealed with a passphrase", "")
}

// interestRows looks at what the database says.
func (e *env) interestRows(i *interests, integrity bool) ([]app.Check, error) {
	gauges, err := i.Gauges(e.ctx)
	if err != nil {
		return nil, err
	}
	counts := fmt.Sprintf("%s, %d active, %s", plural(gauges.Interests, "interest"), gauges.Active, waitingText(gauges.WaitingDecisions))
	checks := []app.Check{finding("interests", app.LevelOK, counts, "")}
	beside, origin := e.serverOf(), e.config.Origin // while nobody serves, an origin counts when it was set
	if beside != nil {
		origin = beside.Origin
	}
	switch {
	case beside != nil:
		checks = append(checks, finding("agent", app.LevelOK, "they are answered for at "+beside.Origin, ""))
	case gauges.Active > 0 && e.holdsRegistry(): // else the check of the server has said so
		checks = append(checks, finding("agent", app.LevelUnknown, "nobody answers for them now", e.command("interest serve")))
	}
	list, err := i.Interests(e.ctx)
	if err != nil {
		return checks, err
	}
	var found []app.Check
	for _, v := range list {
		if v.State != string(interest.Active) && v.State != string(interest.Suspended) {
			continue
		}
		detail, err := i.Interest(e.ctx, v.ID)
		if err != nil {
			return checks, err
		}
		found = append(found, e.interestFindings(&detail, origin)...)
	}
	checks = append(checks, found...)
	if !integrity {
		return checks, nil
	}
	trail, err := i.VerifyAudit(e.ctx)
	switch {
	case err != nil:
		return checks, err
	case !trail.OK:
		return append(checks, finding("trail", app.LevelFailed, fmt.Sprintf("the trail does not fit at %s", plural(len(trail.Problems), "place")), e.command("interest audit verify"))), nil
	}
	return append(checks, finding("trail", app.LevelOK, "the whole trail was read; it fits", "")), nil
}

// interestFindings are what keeps an interest from doing what its principal thinks it does. origin is where it is answered for, "" when that is not known.
func (e *env) interestFindings(v *agent.InterestDetail, origin string) []app.Check {
	var out []app.Check
	for _, b := range v.Budgets {
		if b.Frozen {
			out = append(out, finding("budget", app.LevelWarning, fmt.Sprintf("the budget of %s in %s is frozen since a restore: every question about it is declined", b.Key, v.ID),
				e.command("interest budget %s %s --approve", v.ID, b.Key)))
		}
	}
	elsewhere := 0
	for _, p := range v.Projections {
		live := p.State == string(durable.Prepared) || p.State == string(durable.Publishing) || p.State == string(durable.Published)
		if live && origin != "" && !strings.HasPrefix(p.Endpoint, origin+"/") {
			elsewhere++
		}
	}
	if elsewhere > 0 {
		out = append(out, finding("endpoint", app.LevelWarning, fmt.Sprintf("%s of %s at another origin than %s: nobody who follows them comes here", plural(elsewhere, "projection"), v.ID, origin), e.renewal(v.ID)))
	}
	return out
}
