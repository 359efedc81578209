package cli

import (
	"crypto/ed25519"
	"io"
	"os"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/jcs"
	"sayso/jwk"
)

func init() { register("facts", newFactsKeys) }

func newFactsKeys(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys [DIR]",
		Short: "List and change the public keys of a folder",
		Long: "Keys lists the public keys of a folder with the values each has signed. A new key is listed seven days before it signs, so that readers have it; a retired key " +
			"signs no more and its signatures hold; a revoked key is refused by readers for everything verified after that day.",
		Example: "  sayso facts keys add figures --key ex-2027-04.jwk\n  sayso facts keys retire figures ex-2026-10\n  sayso facts keys revoke figures ex-2026-10 --date 2026-11-20",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !holdsFigures(args[0]) {
				return usageError("%q is neither a command of %s nor a folder with a publisher.yaml", args[0], cmd.CommandPath()).withRun(cmd.CommandPath() + " --help")
			}
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			return e.listKeys(dir)
		},
	}
	for _, child := range []*cobra.Command{
		newFactsKeysAdd(e),
		newFactsKeysEnd(e, "retire", "Mark a key as one that signs no more",
			"Retire marks a key from a day on as one that signs no more. It stays listed and its signatures hold. The only key in force is not retired; "+
				"when its successor does not sign yet, the answer says from which day on something can be signed again.",
			"day on which it stopped signing (default: today, UTC)", dataset.RetireKey),
		newFactsKeysEnd(e, "revoke", "Mark a key as one that is no longer trusted",
			"Revoke marks a key from a day on as one that is no longer trusted: readers refuse its signatures over values verified after that day. Such values have to be "+
				"signed again with another key. A revocation is never moved to a later day and never undone.",
			"last day on which it can be trusted (default: today, UTC)", dataset.RevokeKey),
	} {
		child.Args = usageArgs(child.Args)
		c.AddCommand(child)
	}
	return c
}

// listedKey is one public key of a folder.
type listedKey struct {
	Kid        string `json:"kid"`
	Thumbprint string `json:"thumbprint"` // RFC 7638, SHA-256
	State      string `json:"state"`      // in force | not yet in force | retired | revoked
	ValidFrom  string `json:"validFrom,omitempty"`
	Retired    string `json:"retired,omitempty"`
	Revoked    string `json:"revoked,omitempty"`
	Signatures int    `json:"signatures"`
}

func describeKey(k jwk.Key, signatures int) listedKey {
	out := listedKey{k.Kid, jwk.Thumbprint(ed25519.PublicKey(k.Public)), "in force", k.ValidFrom, k.Retired, k.Revoked, signatures}
	switch {
	case k.Revoked != "":
		out.State = "revoked"
	case k.Retired != "":
		out.State = "retired"
	case k.ValidFrom > today().String():
		out.State = "not yet in force"
	}
	return out
}

func (e *env) listKeys(dir string) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	used := map[string]int{}
	for i := range folder.Signatures {
		used[folder.Signatures[i].Kid]++
	}
	result := struct {
		Folder string      `json:"folder"`
		Keys   []listedKey `json:"keys"`
	}{Folder: dir}
	if folder.Keys != nil {
		for _, k := range folder.Keys.Keys {
			result.Keys = append(result.Keys, describeKey(k, used[k.Kid]))
		}
	}
	return e.answer(&result, func(w io.Writer) error {
		p := &printer{w: w}
		if len(result.Keys) == 0 {
			p.line("no key is listed; the first sayso facts sign enters one")
		}
		var list table
		for _, k := range result.Keys {
			list.add(k.Kid, keyState(k), plural(k.Signatures, "signature"), k.Thumbprint)
		}
		p.table(&list, "")
		return p.err
	})
}

// keyState is the state of a key with its day, short enough for a line with a thumbprint.
func keyState(k listedKey) string {
	switch k.State {
	case "in force":
		return "in force since " + k.ValidFrom
	case "not yet in force":
		return "begins " + k.ValidFrom
	}
	if k.Revoked != "" {
		return "revoked " + k.Revoked
	}
	return "retired " + k.Retired
}

func newFactsKeysAdd(e *env) *cobra.Command {
	var file, from string
	c := &cobra.Command{
		Use:   "add [DIR] --key FILE|-",
		Short: "List a public key",
		Long: "Add lists the public half of a key. FILE is the private key file that sayso keys new wrote, or a JWK Set with the one public key; the private half never " +
			"enters the folder. A later key begins to sign seven days from today at the earliest, when no reader holds the old set any more.",
		Example: "  sayso facts keys add figures --key ex-2027-04.jwk\n  sayso facts keys add figures --key public.json --from 2027-04-01",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			if file == "" {
				return usageError("--key is missing: a key file, or - for standard input").withRun(cmd.CommandPath() + " --help")
			}
			validFrom, err := dateFlag("from", from)
			if err != nil {
				return err
			}
			key, err := e.readPublicKey(file)
			if err != nil {
				return err
			}
			listed, err := dataset.AddKey(dir, key, validFrom, today())
			return e.answerKey(dir, listed, false, err)
		},
	}
	c.Flags().StringVar(&file, "key", "", "private key file, or JWK Set with one public key; - for standard input")
	c.Flags().StringVar(&from, "from", "", "first day on which it signs (default: the earliest)")
	return c
}

// readPublicKey takes the public key from a JWK Set of one key, or from a private key, which must then be as safe as for signing.
func (e *env) readPublicKey(path string) (jwk.Key, error) {
	if path != "-" {
		data, err := os.ReadFile(path)
		if err != nil {
			return jwk.Key{}, err
		}
		if members, err := jcs.Members(data); err == nil && len(members) > 0 && members[0].Name == "keys" {
			set, err := jwk.ParseSet(data)
			if err != nil {
				return jwk.Key{}, refusedError("%s: %v", path, err)
			}
			if len(set.Keys) != 1 {
				return jwk.Key{}, usageError("%s holds %s; one is added at a time", path, plural(len(set.Keys), "key"))
			}
			return set.Keys[0], nil
		}
	}
	private, err := e.readPrivateKey(path)
	if err != nil {
		return jwk.Key{}, err
	}
	return private.Public(), nil
}

func newFactsKeysEnd(e *env, verb, short, long, dateHelp string, end func(dir, kid string, on, today facts.Date) (jwk.Key, error)) *cobra.Command {
	var date string
	c := &cobra.Command{
		Use:     verb + " [DIR] KID",
		Short:   short,
		Long:    long,
		Example: "  sayso facts keys " + verb + " figures ex-2026-10\n  sayso facts keys " + verb + " figures ex-2026-10 --date 2026-11-20",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, rest, err := takeFolder(args)
			if err != nil {
				return err
			}
			if len(rest) != 1 {
				return usageError("%s takes one key id", cmd.CommandPath()).withHint("list them").withRun("sayso facts keys " + shellWord(dir))
			}
			on, err := dateFlag("date", date)
			if err != nil {
				return err
			}
			key, err := end(dir, rest[0], on, today())
			return e.answerKey(dir, key, true, err)
		},
	}
	c.Flags().StringVar(&date, "date", "", dateHelp)
	return c
}

// unsignedUntil warns of the days on which no key of a folder may sign.
func unsignedUntil(set *jwk.Set, today facts.Date) string {
	switch day, ok := dataset.SigningFrom(set, today); {
	case !ok:
		return "no listed key can sign any more: list a successor with facts keys add"
	case day > today:
		return "nothing can be signed before " + day.String() + ", when the next key begins"
	}
	return ""
}

// answerKey prints the key as it is listed now, and what has to be done for readers to see it. A key that ended may leave nothing to sign with.
func (e *env) answerKey(dir string, key jwk.Key, ended bool, err error) error {
	if err != nil {
		return actFailure(dir, err)
	}
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	used := 0
	for i := range folder.Signatures {
		if folder.Signatures[i].Kid == key.Kid {
			used++
		}
	}
	result := struct {
		Folder  string    `json:"folder"`
		Key     listedKey `json:"key"`
		Warning string    `json:"warning,omitempty"` // when something can be signed again
	}{Folder: dir, Key: describeKey(key, used)}
	if ended {
		result.Warning = unsignedUntil(folder.Keys, today())
	}
	if err := e.answer(result, func(w io.Writer) error {
		p := &printer{w: w}
		p.line("%s  %s  %s", result.Key.Kid, keyState(result.Key), result.Key.Thumbprint)
		return p.err
	}); err != nil {
		return err
	}
	if result.Warning != "" {
		e.note("warning: %s", result.Warning)
	}
	e.note("next: sayso facts lint %s, then build: readers learn of keys from the published jwks.json", shellWord(dir))
	return nil
}
