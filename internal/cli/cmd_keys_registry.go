package cli

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/business"
	"sayso/internal/app"
	"sayso/jcs"
	"sayso/jwk"
)

func init() { register("keys", newKeysRegistry) }

// maxEntryFile bounds an entry that the root signs or has signed.
const maxEntryFile = 64 << 10

const registryKeyProcedure = "A registry key signs for at most 365 days, and the root, which is kept off this machine, signs its successor. On the machine of the registry:\n\n" +
	"  sayso keys registry prepare > entry.json\n\n" +
	"The new private key stays in keys/; entry.json holds nothing secret. Carry it to the machine where root.key is, compare the thumbprint that both commands print, and sign:\n\n" +
	"  sayso keys registry sign entry.json --root-key root.key > signed.json\n\n" +
	"Carry signed.json back. From then on the new key signs, and the keys of all businesses are attested anew; the older key keeps its end:\n\n" +
	"  sayso keys registry install signed.json\n\n" +
	"To withdraw a registry key that somebody else may have, first install another one, then sign and install the withdrawal in the same two steps:\n\n" +
	"  sayso keys registry sign --revoke KID --reason key_compromise --root-key root.key > w.json\n" +
	"  sayso keys registry install w.json\n\n" +
	"Where root.key is on the machine of the registry, sayso keys registry revoke does both."

func newKeysRegistry(e *env) *cobra.Command {
	return subgroup(&cobra.Command{
		Use:     "registry",
		Short:   "Replace and withdraw the key of the registry, with a root that is elsewhere",
		Long:    registryKeyProcedure,
		Example: "  sayso keys registry list\n  sayso keys registry prepare > entry.json",
	}, newRegistryKeyList(e), newRegistryKeyPrepare(e), newRegistryKeySign(e), newRegistryKeyInstall(e), newRegistryKeyRevoke(e))
}

func newRegistryKeyList(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the root and the registry keys",
		Long:    "List prints the root and every registry key there ever was, with what each does now and until when.",
		Example: "  sayso keys registry list",
		RunE: func(*cobra.Command, []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				keys, err := r.RegistryKeyList(e.ctx, as)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Keys []app.KeyView `json:"keys"`
				}{noNull(keys)}, func(w io.Writer) error { return writeRegistryKeys(w, keys, r.Now()) })
			})
		},
	}
	who.add(c.Flags())
	return c
}

func writeRegistryKeys(w io.Writer, keys []app.KeyView, now time.Time) error {
	var t table
	for _, k := range keys {
		t.add(k.Kid, k.State, "since "+stamp(k.CreatedAt), timeLeft(k.NotAfter, now))
	}
	return t.write(w, "")
}

func newRegistryKeyPrepare(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "prepare",
		Short: "Make a registry key and print its entry for the root to sign",
		Long: "Prepare makes a registry key, keeps its private half in keys/ and prints its entry, which holds nothing secret. Nothing is signed with the key before the signed entry is installed.\n\n" +
			registryKeyProcedure,
		Example: "  sayso keys registry prepare > entry.json",
		RunE: func(*cobra.Command, []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				entry, err := r.PrepareRegistryKey(e.ctx, as, "")
				if err != nil {
					return err
				}
				if err := e.answerEntry(entry); err != nil {
					return err
				}
				e.noteEntry(entry)
				e.note("next: where root.key is, sayso keys registry sign FILE --root-key root.key, with what was printed here as FILE")
				return nil
			})
		},
	}
	who.add(c.Flags())
	return c
}

// answerEntry prints an entry as the JSON that the next step reads, with and without --json.
func (e *env) answerEntry(entry any) error {
	body, err := jcs.Encode(entry)
	if err != nil {
		return err
	}
	return e.answer(jcs.Raw(body), func(w io.Writer) error {
		_, err := w.Write(append(body, '\n'))
		return err
	})
}

// noteEntry says what a person compares on the two machines.
func (e *env) noteEntry(entry *business.RegistryKey) {
	public, err := jwk.DecodeBase64URL(entry.X)
	if err == nil {
		e.note("%s, thumbprint %s, until %s", entry.Kid, jwk.Thumbprint(public), entry.NotAfter)
	}
}

// rooted holds the flags that find the private half of the root.
type rooted struct{ file, passphraseFile string }

func (r *rooted) add(c *cobra.Command) {
	c.Flags().StringVar(&r.file, "root-key", "", "the root's private key (default: root.key in the data folder)")
	c.Flags().StringVar(&r.passphraseFile, "root-passphrase-file", "", "file (mode 0600) with the passphrase of the root key")
}

func (e *env) openRoot(r rooted) (business.Signer, error) {
	path := e.rootFile(r.file)
	root, err := app.LoadRoot(path, func() ([]byte, error) { return e.rootPassphrase(r.passphraseFile, false) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFoundError("%s does not exist: the root's private key is not here", path).withHint("name it with --root-key, or sign on the machine where it is").
			withRun("sayso keys registry sign --help")
	}
	if err != nil {
		return nil, keyFailure(err)
	}
	return root, nil
}

func newRegistryKeySign(e *env) *cobra.Command {
	var root rooted
	var v revoking
	var revoke string
	c := &cobra.Command{
		Use:   "sign ENTRY|- | sign --revoke KID --reason REASON",
		Short: "Sign with the root, where the root is",
		Long: "Sign runs where root.key is and needs neither registry nor network. It signs the entry of a new registry key, or with --revoke the withdrawal of one, and prints what sayso keys registry install " +
			"takes. Before it signs an entry it prints kid and thumbprint: compare them with what prepare printed.\n\n" + registryKeyProcedure,
		Example: "  sayso keys registry sign entry.json --root-key offline/root.key > signed.json\n" +
			"  sayso keys registry sign --revoke registry-0123abcd --reason key_compromise --root-key offline/root.key > withdrawal.json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) == (revoke == ""):
				return usageError("name either the entry to sign, or with --revoke the key to withdraw").withRun("sayso keys registry sign --help")
			case revoke != "":
				return e.signWithdrawal(root, revoke, &v)
			}
			return e.signEntry(root, args[0])
		},
	}
	root.add(c)
	c.Flags().StringVar(&revoke, "revoke", "", "kid of the registry key to withdraw")
	v.addWindow(c.Flags())
	return c
}

func (e *env) signEntry(from rooted, path string) error {
	data, err := e.readInput(path, maxEntryFile)
	if err != nil {
		return err
	}
	var entry business.RegistryKey
	if err := jcs.DecodeKnown(data, &entry); err != nil {
		return failedError("%s is no entry of a registry key: %v", inputName(path), err).withRun("sayso keys registry prepare")
	}
	public, err := jwk.DecodeBase64URL(entry.X)
	switch {
	case entry.RootSignature != nil:
		return refusedError("the entry of %s has a root's signature already", entry.Kid).withHint("install it, or prepare another key")
	case err != nil || len(public) != 32 || entry.Role != business.RoleSigning:
		return failedError("%s is no entry of a registry key that signs", inputName(path)).withRun("sayso keys registry prepare")
	}
	root, err := e.openRoot(from)
	if err != nil {
		return err
	}
	e.noteEntry(&entry)
	signed, err := app.SignRegistryKey(root, entry, time.Now().UTC())
	if err != nil {
		return failedError("the entry cannot be signed: %v", err)
	}
	if err := e.answerEntry(&signed); err != nil {
		return err
	}
	e.note("next: on the machine of the registry, sayso keys registry install FILE, with what was printed here as FILE")
	return nil
}

// withdrawal makes and signs the entry that withdraws a registry key.
func (e *env) withdrawal(from rooted, kid string, v *revoking) (*business.RevocationEntry, error) {
	in, err := v.input()
	if err != nil {
		return nil, err
	}
	root, err := e.openRoot(from)
	if err != nil {
		return nil, err
	}
	entry, err := app.SignRegistryRevocation(root, kid, in.Code, in.From, in.Until, time.Now().UTC())
	return &entry, registryFailure(err)
}

func (e *env) signWithdrawal(from rooted, kid string, v *revoking) error {
	entry, err := e.withdrawal(from, kid, v)
	if err != nil {
		return err
	}
	if err := e.answerEntry(entry); err != nil {
		return err
	}
	e.note("next: on the machine of the registry, sayso keys registry install FILE, with what was printed here as FILE")
	return nil
}

func newRegistryKeyInstall(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "install FILE|-",
		Short: "Take what the root has signed",
		Long: "Install takes an entry that the pinned root has signed. The entry of a key that was prepared here makes it the key that signs, and the keys of all businesses are attested anew. A withdrawal goes on " +
			"the registry's list; another registry key has to be there to sign that list.\n\nExit 4 when the pinned root has not signed exactly this, or the private half is not held here.\n\n" + registryKeyProcedure,
		Example: "  sayso keys registry install signed.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			key, withdrawal, err := e.readSigned(args[0])
			if err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				if withdrawal != nil {
					return e.installWithdrawal(r, as, withdrawal)
				}
				receipt, err := r.InstallRegistryKey(e.ctx, as, *key, "")
				return e.doneNext(receipt, err, "sayso doctor", "installed %s, which signs until %s", key.Kid, key.NotAfter)
			})
		},
	}
	who.add(c.Flags())
	return c
}

// readSigned reads the entry of a key or of a withdrawal; the member scope tells them apart.
func (e *env) readSigned(path string) (*business.RegistryKey, *business.RevocationEntry, error) {
	data, err := e.readInput(path, maxEntryFile)
	if err != nil {
		return nil, nil, err
	}
	members, err := jcs.Members(data)
	if err != nil {
		return nil, nil, failedError("%s holds nothing that the root has signed: %v", inputName(path), err)
	}
	for _, m := range members {
		if m.Name != "scope" {
			continue
		}
		entry := &business.RevocationEntry{}
		if err := jcs.DecodeKnown(data, entry); err != nil {
			return nil, nil, failedError("%s is no withdrawal of a registry key: %v", inputName(path), err)
		}
		return nil, entry, nil
	}
	key := &business.RegistryKey{}
	if err := jcs.DecodeKnown(data, key); err != nil {
		return nil, nil, failedError("%s is no entry of a registry key: %v", inputName(path), err)
	}
	return key, nil, nil
}

func (e *env) installWithdrawal(r *app.Registry, as app.Actor, entry *business.RevocationEntry) error {
	receipt, err := r.RevokeRegistryKey(e.ctx, as, *entry, "")
	return e.doneNext(receipt, err, "sayso doctor", "withdrew the registry key %s: %s", entry.Subject, strings.ReplaceAll(entry.Reason, "_", " "))
}

func newRegistryKeyRevoke(e *env) *cobra.Command {
	var who acting
	var root rooted
	var v revoking
	var yes bool
	c := &cobra.Command{
		Use:   "revoke KID --reason REASON --yes",
		Short: "Withdraw a registry key, where the root is on this machine",
		Long: "Revoke signs the withdrawal of a registry key with the root and installs it. Readers refuse everything that the key signed or attested, all of it or with --from and --until what it signed in that time. " +
			"Another registry key has to be there to sign the list that says so. It is never undone, so --yes has to be given.\n\n" + registryKeyProcedure,
		Example: "  sayso keys registry revoke registry-0123abcd --reason key_compromise --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := sure(yes, "withdraws the registry key %s", args[0]); err != nil {
				return err
			}
			entry, err := e.withdrawal(root, args[0], &v)
			if err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error { return e.installWithdrawal(r, as, entry) })
		},
	}
	root.add(c)
	v.addWindow(c.Flags())
	c.Flags().BoolVar(&yes, "yes", false, "do what cannot be undone")
	who.add(c.Flags())
	return c
}
