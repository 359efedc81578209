package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts/dataset"
	"sayso/internal/app"
)

func init() { register("", newDoctor) }

func newDoctor(e *env) *cobra.Command {
	var integrity bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine settings, keys, database and what they mean for readers",
		Long: "Doctor examines what there is and says for each thing whether it is well, what is wrong and what to do: the settings, the folder of figures, the running server, and of a registry the key files and " +
			"who can read them, the seal, the pinned root, how long the registry key lasts, proofs that end soon, whether every key that signs is here, and the database; of interests the keys, the seal, budgets that " +
			"are frozen and endpoints that nobody reaches. It changes nothing and prints no secret. unknown means that a check could not be made here.\n\n" +
			"--integrity reads the whole database, computes every content hash anew and follows the trail of the interests, which takes time. Exit 1 when a check failed; warnings leave it at 0.",
		Example: "  sayso doctor\n  sayso doctor --integrity --json",
		RunE:    func(*cobra.Command, []string) error { return e.doctor(integrity) },
	}
	c.Flags().BoolVar(&integrity, "integrity", false, "read the whole database")
	return c
}

func (e *env) doctor(integrity bool) error {
	checks := slices.Concat([]app.Check{e.settingsCheck()}, e.figuresChecks(), []app.Check{e.serverCheck()}, e.registryChecks(integrity), e.interestsChecks(integrity))
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if err := e.answer(struct {
		Checks []app.Check `json:"checks"`
	}{checks}, func(w io.Writer) error { return e.writeChecks(w, checks) }); err != nil {
		return err
	}
	for _, c := range checks {
		if c.Level == app.LevelFailed {
			return answered(exitFailed)
		}
	}
	return nil
}

// levelColours are those of a terminal that wants them.
var levelColours = map[app.Level]string{app.LevelOK: "32", app.LevelWarning: "33", app.LevelFailed: "31", app.LevelUnknown: "2"}

func (e *env) writeChecks(w io.Writer, checks []app.Check) error {
	p := &printer{w: w}
	var t table
	indent := len("warning  ")
	for _, c := range checks {
		indent = max(indent, len("warning  ")+len(c.ID)+2)
	}
	for _, c := range checks {
		text := e.prose(c.Message, indent)
		if c.Fix != "" && c.Level != app.LevelOK {
			text += "\n" + e.prose("fix: "+c.Fix, indent)
		}
		level, id := string(c.Level), c.ID
		for line := range strings.SplitSeq(text, "\n") {
			t.add(level, id, line)
			level, id = "", ""
		}
	}
	t.paint = func(cell string) string {
		if colour := levelColours[app.Level(cell)]; colour != "" {
			return e.paint(w, colour, cell)
		}
		return cell
	}
	p.table(&t, "")
	return p.err
}

func finding(id string, level app.Level, message, fix string) app.Check {
	return app.Check{ID: id, Level: level, Message: message, Fix: fix}
}

// settingsCheck is never bad: settings that are wrong end every command.
func (e *env) settingsCheck() app.Check {
	info, err := os.Stat(e.config.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding("settings", app.LevelOK, "the settings are good; the data folder "+e.config.Data+" does not exist yet", "")
	case err != nil:
		return finding("settings", app.LevelFailed, "the data folder cannot be looked at: "+err.Error(), "name another with --data")
	case !info.IsDir():
		return finding("settings", app.LevelFailed, "the data folder "+e.config.Data+" is no folder", "name another with --data")
	}
	return finding("settings", app.LevelOK, "the settings are good; the data folder is "+e.config.Data, "")
}

// figuresChecks lints the folder that serve would serve, when there is one.
func (e *env) figuresChecks() []app.Check {
	dir := e.config.Facts
	if dir == "" {
		dir = e.keptFigures()
	}
	if dir == "" {
		return nil
	}
	if !holdsFigures(dir) {
		return []app.Check{finding("figures", app.LevelFailed, dir+" holds no publisher.yaml", "name a folder of figures")}
	}
	end := e.patience("checking figures")
	defer end()
	folder, _ := dataset.Load(os.DirFS(dir)) // what could not be read is part of the report
	if dataset.Lint(folder, today()).Failed() {
		return []app.Check{finding("figures", app.LevelFailed, dir+" has errors, so it is not served", "sayso facts lint "+shellWord(dir))}
	}
	return []app.Check{finding("figures", app.LevelOK, dir+" has no error", "")}
}

// serverCheck asks the server of the data folder, which need not run.
func (e *env) serverCheck() app.Check {
	address := e.findInstance()
	ready, err := fetchReadiness(e.ctx, address)
	switch {
	case err != nil:
		serve := "sayso serve"
		if e.holdsInterests() && !e.holdsRegistry() {
			serve = e.command("interest serve")
		}
		return finding("server", app.LevelUnknown, "no server answers at "+address, "start one with "+serve+", when it should run")
	case !ready.Ready:
		return finding("server", app.LevelFailed, "the server at "+address+" is not ready", "sayso health")
	}
	return finding("server", app.LevelOK, "the server at "+address+" is ready", "")
}

// registryChecks examines the registry, when there is one. One that cannot be opened is a finding, not the end.
func (e *env) registryChecks(integrity bool) []app.Check {
	switch {
	case e.holdsRegistry():
	case e.holdsInterests():
		return nil
	default:
		return []app.Check{finding("registry", app.LevelUnknown, "there is no registry in "+e.config.Data, "make one with sayso init, when businesses are to be kept")}
	}
	var checks []app.Check
	err := e.withRegistry(func(r *app.Registry) error {
		end := e.patience("examining the registry")
		defer end()
		checks = r.Doctor(e.ctx, integrity)
		return nil
	})
	if err != nil {
		f := asFailure(e.ctx, err)
		fix := f.hint
		if fix == "" {
			fix = "do what the message says"
		}
		checks = append(checks, finding("registry", app.LevelFailed, "the registry cannot be opened: "+f.message, fix))
	}
	return checks
}
