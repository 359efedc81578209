package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"sayso/business"
	"sayso/business/answer"
	"sayso/internal/app"
	"sayso/internal/buildinfo"
	"sayso/internal/keyfile"
	"sayso/internal/proof"
	"sayso/internal/store/postgres"
	"sayso/internal/store/sqlite"
)

// databaseFile is the SQLite database of a data folder.
const databaseFile = "sayso.db"

// openStore opens the registry's database: that of the setting, else the file of the data folder. An older one is migrated, a newer one refused.
func (e *env) openStore(ctx context.Context) (app.Store, error) {
	var store app.Store
	var err error
	if url := e.config.Database; url != "" {
		store, err = postgres.Open(ctx, url)
	} else {
		store, err = sqlite.Open(ctx, filepath.Join(e.config.Data, databaseFile))
	}
	if err != nil {
		return nil, registryFailure(err)
	}
	return store, nil
}

// holdsRegistry reports whether sayso init has run on the data folder.
func (e *env) holdsRegistry() bool {
	_, err := os.Stat(filepath.Join(e.config.Data, app.PinFile))
	return err == nil
}

// holdsDatabase refuses a registry whose file was lost: an empty one in its place would look like a registry that never held anything.
func (e *env) holdsDatabase() error {
	path := filepath.Join(e.config.Data, databaseFile)
	if _, err := os.Stat(path); e.config.Database == "" && errors.Is(err, fs.ErrNotExist) {
		return notFoundError("the registry of %s has lost its database, %s", e.config.Data, databaseFile).withHint("restore it from a copy, or name the PostgreSQL database in the setting database")
	}
	return nil
}

// openRegistry opens the registry of the data folder for one command or for a server; close releases the database. origin is what absolute URLs begin with,
// "" for none.
func (e *env) openRegistry(ctx context.Context, origin string, prover app.Prover) (r *app.Registry, closing func() error, err error) {
	if !e.holdsRegistry() {
		return nil, nil, notFoundError("%s holds no registry", e.config.Data).withHint("make one, or name its folder with --data").withRun("sayso init")
	}
	if err := e.holdsDatabase(); err != nil {
		return nil, nil, err
	}
	keys, err := app.OpenKeys(e.config.Data, func() ([]byte, error) { return e.passphrase(false) })
	if err != nil {
		return nil, nil, keyFailure(err)
	}
	store, err := e.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	r = app.New(app.Options{
		Store: store, Keys: keys, Prover: prover, Log: e.logger(), Data: e.config.Data,
		Site: registrySite(origin),
	})
	return r, store.Close, nil
}

// registrySite is what a registry of this program answers for: tools, too.
func registrySite(origin string) business.Site {
	return business.Site{Origin: origin, ServerVersion: buildinfo.Get().Version, ToolsServed: true, InputSchema: answer.InputSchema}
}

// withRegistry runs one act on the registry beside a running server or without one: both see one database, and a server takes the change over within a second.
func (e *env) withRegistry(act func(r *app.Registry) error) error {
	prover, err := e.prover()
	if err != nil {
		return err
	}
	r, closing, err := e.openRegistry(e.ctx, e.registryOrigin(), prover)
	if err != nil {
		return err
	}
	err = registryFailure(act(r))
	return errors.Join(err, closing())
}

// registryOrigin is where the registry is served, as far as a command can know. It stands outside every signature that a command makes.
func (e *env) registryOrigin() string { return e.servedOrigin(instanceFile) }

// prover asks the configured resolvers.
func (e *env) prover() (app.Prover, error) {
	c := &proof.Checker{UserAgent: "sayso/" + buildinfo.Get().Version}
	for _, text := range e.config.Resolvers {
		r, err := proof.ParseResolver(text)
		if err != nil {
			return nil, usageError("resolvers: %v", err).withRun("sayso config show")
		}
		c.Resolvers = append(c.Resolvers, r)
	}
	return c, nil
}

// registryFailure maps the refusals of the registry to exit codes.
func registryFailure(err error) error {
	var refused *app.Error
	var f *failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return context.Canceled // an interrupt, whatever act it ended
	case errors.As(err, &refused):
		f := &failure{code: exitCode(refused.Kind.ExitCode()), message: refused.Message, reason: refused.Code, hint: refused.Next}
		switch refused.Code {
		case "owner_only", "not_delegated":
			f.hint = "act with a token of the business: --token-file FILE"
		case "unknown_publisher":
			f.run = "sayso business list"
		case "authority_missing":
			f.hint = "prove a host of the business with sayso business prove, or have two operators verify it with sayso business verify"
		case "second_operator":
			f.hint = "another operator confirms it, under a name of its own: --operator NAME"
		case "unauthorized":
			f.hint = "see that the token is whole, was not revoked and is one of this business; a list of businesses needs an operator's"
		case "not_published":
			f.hint = "sayso business show says in which state it is"
		case "withdrawn":
			f.hint = "make a business under another name"
		}
		return f
	case errors.Is(err, app.ErrNewerSchema):
		return refusedError("%v", app.ErrNewerSchema).withHint("run the newer version, or restore a copy from before it ran")
	case errors.Is(err, keyfile.ErrRefused), errors.Is(err, fs.ErrPermission):
		return refusedError("%v", err)
	}
	return unavailableError("%v", err)
}

// keyFailure is why a key was not opened: an unsafe file, or the wrong passphrase. Trying again does not help.
func keyFailure(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, fs.ErrNotExist) {
		return notFoundError("%v", err)
	}
	return refusedError("%v", err)
}

// acting holds the flags that say who acts: the owner of the machine under a label for the audit trail, or the holder of a token.
type acting struct {
	operator  string
	tokenFile string
}

func (a *acting) add(flags *pflag.FlagSet) {
	flags.StringVar(&a.operator, "operator", "", "your name in the audit trail, as an operator (default: your login name)")
	flags.StringVar(&a.tokenFile, "token-file", "", "act as the holder of the token in this file (mode 0600; - for standard input)")
}

// onRegistry runs one act on the registry as whoever the flags name.
func (e *env) onRegistry(a acting, do func(r *app.Registry, as app.Actor) error) error {
	if a.operator != "" && a.tokenFile != "" {
		return usageError("--operator and --token-file both say who acts").withHint("a token names its holder itself")
	}
	if a.tokenFile == "" {
		as, err := operator(a.operator)
		if err != nil {
			return err
		}
		return e.withRegistry(func(r *app.Registry) error { return do(r, as) })
	}
	token, err := e.readToken(a.tokenFile)
	if err != nil {
		return err
	}
	return e.withRegistry(func(r *app.Registry) error {
		as, err := r.Authenticate(e.ctx, token)
		if err != nil {
			return err
		}
		return do(r, as)
	})
}

// operator is the owner of the machine under a label; "" is the login name, where that is a label.
func operator(label string) (app.Actor, error) {
	if label == "" {
		if u, err := user.Current(); err == nil {
			if actor, err := app.Machine(u.Username); err == nil {
				return actor, nil
			}
		}
		label = "machine"
	}
	actor, err := app.Machine(label)
	if err != nil {
		return actor, usageError("--operator: %v", err)
	}
	return actor, nil
}

// readToken reads a bearer token. One in a file that others can read is not secret any more.
func (e *env) readToken(path string) (string, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(e.in, 4096))
	} else {
		text, err = keyfile.Read(path)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", usageError("--token-file: there is no token in %s", inputName(path))
	}
	return token, nil
}
