package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("", newInit) }

func newInit(e *env) *cobra.Command {
	var yes bool
	var label, rootFile string
	c := &cobra.Command{
		Use:   "init",
		Short: "Make a registry: its root key, its signing key and the first operator's token",
		Long: "Init makes a registry in the data folder. Two keys come into being, and they do different work.\n\n" +
			"The root key says which keys speak for this registry. Readers pin its public half, root.pub.json, and it signs a few times in its life: today the registry key, later its " +
			"successor. Its private half, root.key, is made outside the server's key folder under a passphrase of its own; move it off this machine to a place where you will find " +
			"it in a year.\n\n" +
			"The registry key signs every day: manifests, publisher keys, revocation lists. It lives in keys/ and lasts 365 days; sayso doctor warns 30 days before.\n\n" +
			"The token printed at the end is the first operator's, for the admin API. It is shown once and kept as a hash.\n\n" +
			"Keys in keys/ are sealed with the passphrase in the file that SAYSO_PASSPHRASE_FILE names, or one typed here. With --yes and no such file they are sealed with a secret " +
			"that lies beside them, which keeps them from being copied by accident and from nothing else; sayso doctor says so. The root key is sealed with the passphrase in " +
			"--root-passphrase-file, or one typed here; with a file for keys/ alone it is the same one, and with --yes and no file it is not sealed.\n\n" +
			"Exit 4 when there is a registry already, 2 when a passphrase is needed and nobody is there to type it.",
		Example: "  sayso init\n  SAYSO_PASSPHRASE_FILE=/run/secrets/sayso sayso init --data /var/lib/sayso\n  sayso init --yes --data registry",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return e.initRegistry(yes, label, rootFile) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "ask nothing: without a passphrase file, seal with a secret kept beside the keys")
	c.Flags().StringVar(&label, "operator", "first", "name of the first operator's token")
	c.Flags().StringVar(&rootFile, "root-passphrase-file", "", "file (mode 0600) with the passphrase of the root key")
	return c
}

func (e *env) initRegistry(yes bool, label, rootFile string) error {
	if e.holdsRegistry() {
		return refusedError("%s holds a registry already", e.config.Data).withHint("name another folder with --data").withRun(e.command("doctor"))
	}
	in := app.InitInput{Data: e.config.Data, Operator: label, Now: time.Now()}
	var err error
	if e.config.PassphraseFile != "" || !yes {
		if in.Passphrase, err = e.passphrase(true); err != nil {
			var f *failure
			if errors.As(err, &f) && f.hint != "" {
				f.hint += "; for a trial, --yes goes without"
			}
			return err
		}
	}
	if rootFile != "" || e.config.PassphraseFile != "" || !yes {
		if in.RootPassphrase, err = e.rootPassphrase(rootFile, true); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(e.config.Data, 0o700); err != nil {
		return err
	}
	store, err := e.openStore(e.ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	made, err := app.Init(e.ctx, store, in)
	if err != nil {
		return registryFailure(err)
	}
	if err := e.answer(made, func(w io.Writer) error { return e.tellInit(w, made, &in) }); err != nil {
		return err
	}
	switch {
	case len(in.RootPassphrase) == 0:
		e.note("warning: the root key is not sealed: whoever reads %s is this registry. Move it to a medium of your own, or begin again with a passphrase", made.RootFile)
	case bytes.Equal(in.Passphrase, in.RootPassphrase):
		e.note("note: the root key has the passphrase of the server's keys; --root-passphrase-file gives it its own")
	}
	return nil
}

func (e *env) tellInit(w io.Writer, made *app.InitResult, in *app.InitInput) error {
	root, sealed := "not sealed", "sealed with a secret that lies beside them"
	if len(in.RootPassphrase) > 0 {
		root = "sealed with its passphrase"
	}
	if len(in.Passphrase) > 0 {
		sealed = "sealed with their passphrase"
	}
	_, err := fmt.Fprintf(w, "root key      %s, %s, kid %s\n"+
		"              it signs registry keys and nothing else; move it off this machine\n"+
		"pin           %s\n"+
		"              the root's public half: give it to readers over another channel than this registry\n"+
		"registry key  %s, signed by the root, until %s\n"+
		"keys          %s, %s\n"+
		"token         %s\n"+
		"              the first operator's; it is shown this once\n"+
		"next          %s\n"+
		"              then %s\n",
		made.RootFile, root, made.RootKid, made.PinFile, made.RegistryKid, made.NotAfter.Format(time.DateOnly),
		filepath.Join(e.config.Data, app.KeysFolder), sealed, made.OperatorToken, e.command("business create SLUG --name NAME"), e.command("serve"))
	return err
}

// rootFile is where the root's private half is looked for.
func (e *env) rootFile(flag string) string {
	if flag != "" {
		return flag
	}
	return filepath.Join(e.config.Data, app.RootKeyFile)
}
