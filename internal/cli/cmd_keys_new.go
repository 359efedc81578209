package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/spf13/cobra"

	"sayso/internal/keyfile"
	"sayso/jcs"
	"sayso/jwk"
)

func init() { register("keys", newKeysNew) }

// ownKid is the form of the key ids we make (S4): who, year, month.
var ownKid = regexp.MustCompile(`^[a-z0-9]{1,16}-[0-9]{4}-(0[1-9]|1[0-2])$`)

func newKeysNew(e *env) *cobra.Command {
	var kid, out string
	var seal bool
	c := &cobra.Command{
		Use:   "new --kid KID [--out FILE]",
		Short: "Make a signing key",
		Long: "New makes an Ed25519 key and writes the private JWK into a new file of mode 0600, KID.jwk unless --out names another; an existing file is never replaced. " +
			"When the setting passphrase_file names a passphrase, or with --seal one is typed, the file is sealed with it. The answer is the public key, a JWK Set of one, which can go to a file and from there to whoever is to believe it.\n\n" +
			"KID names who signs, and the year and month in which the key begins to sign, as in ex-2026-10. The first key of a folder is listed by facts sign; a successor by facts keys add, " +
			"seven days before it signs. A key for interest credentials issue is listed nowhere: give its public half to those who are to believe you.",
		Example: "  sayso keys new --kid ex-2026-10\n  sayso keys new --kid ex-2026-10 --out secret/ex-2026-10.jwk --seal\n  sayso keys new --kid guild-2026-10 --out guild.jwk > guild.pub.json",
		RunE: func(*cobra.Command, []string) error {
			if !ownKid.MatchString(kid) {
				return usageError("--kid %q is not WHO-YEAR-MONTH in lower case", kid).withHint("an example is ex-2026-10")
			}
			if out == "" {
				out = kid + ".jwk"
			}
			return e.makeKey(kid, out, seal)
		},
	}
	c.Flags().StringVar(&kid, "kid", "", "name of the key, WHO-YEAR-MONTH")
	c.Flags().StringVar(&out, "out", "", "file to write (default KID.jwk)")
	c.Flags().BoolVar(&seal, "seal", false, "seal the file with a passphrase, asked on the terminal when no file names it")
	return c
}

func (e *env) makeKey(kid, path string, seal bool) error {
	var passphrase []byte
	if seal || e.config.PassphraseFile != "" {
		var err error
		if passphrase, err = e.passphrase(true); err != nil {
			return err
		}
	}
	key, err := jwk.Generate(kid, rand.Reader)
	if err != nil {
		return err
	}
	err = keyfile.Store(path, key, passphrase)
	if errors.Is(err, fs.ErrExist) {
		return refusedError("%s exists, and a key file is never replaced", path).withHint("name another file with --out")
	}
	if err != nil {
		return err
	}
	public, err := (&jwk.Set{Keys: []jwk.Key{key.Public()}}).MarshalJSON()
	if err != nil {
		return err
	}
	result := struct {
		File   string  `json:"file"`
		Kid    string  `json:"kid"`
		Sealed bool    `json:"sealed"`
		Public jcs.Raw `json:"public"` // a JWK Set of this one key
	}{path, kid, len(passphrase) > 0, public}
	if err := e.answer(result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n", public) // the key alone, so that it can go to a file
		return err
	}); err != nil {
		return err
	}
	e.note("wrote %s", path)
	if !result.Sealed {
		e.note("the key is not sealed: whoever can read %s can sign as you", path)
	}
	e.note("next, for figures: sayso facts sign DIR --key %[1]s; where another key signs already, first sayso facts keys add DIR --key %[1]s", shellWord(path))
	return nil
}
