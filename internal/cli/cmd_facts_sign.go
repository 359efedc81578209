package cli

import (
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"sayso/facts/dataset"
	"sayso/internal/keyfile"
	"sayso/jwk"
)

func init() { register("facts", newFactsSign) }

func newFactsSign(e *env) *cobra.Command {
	var key string
	var all bool
	c := &cobra.Command{
		Use:   "sign [DIR] --key FILE|-",
		Short: "Sign the confirmed figures of a folder",
		Long: "Sign makes the missing signatures of all confirmed values, drops those of statements that are no longer made, and writes signatures.json. Before it writes, it " +
			"prints every statement that the signer is about to stand behind; then the commands that verify them. It asks nothing: whoever signs has decided. Nothing is " +
			"published by signing, so read the list before you build. With --json the list is part of the one answer.\n\n" +
			"The key is a file that nobody else may read, plain or sealed, or standard input. Into a folder without keys sign enters it; later keys are listed with " +
			"facts keys add. Signing again gives the same file.",
		Example: "  sayso facts sign figures --key ex-2026-10.jwk\n  sayso facts sign figures --key - --all",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			if key == "" {
				return usageError("--key is missing: a key file, or - for standard input").withHint("make a key").withRun("sayso keys new --kid NAME-YYYY-MM")
			}
			private, err := e.readPrivateKey(key)
			if err != nil {
				return err
			}
			return e.sign(dir, dataset.SignOptions{Key: private, Today: today(), All: all})
		},
	}
	c.Flags().StringVar(&key, "key", "", "file with the private key, - for standard input")
	c.Flags().BoolVar(&all, "all", false, "sign every value again with this key")
	return c
}

// maxKeyFile bounds a key on standard input as keyfile bounds a file.
const maxKeyFile = 64 << 10

// readPrivateKey loads a key from a file, or from standard input where it has no file that could be unsafe.
func (e *env) readPrivateKey(path string) (*jwk.PrivateKey, error) {
	passphrase := func() ([]byte, error) { return e.passphrase(false) }
	if path != "-" {
		key, err := keyfile.Load(path, passphrase)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notFoundError("there is no key file %s", path).withHint("name another with --key, or make a key").withRun("sayso keys new --kid NAME-YYYY-MM")
		}
		return key, err
	}
	data, err := io.ReadAll(io.LimitReader(e.in, maxKeyFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(data) > maxKeyFile {
		return nil, usageError("standard input holds no key").withHint("pass a private JWK, or name its file with --key FILE")
	}
	if jwk.Sealed(data) {
		secret, err := passphrase()
		if err != nil {
			return nil, err
		}
		if data, err = jwk.Open(data, secret); err != nil {
			return nil, refusedError("the key on standard input: %v", err)
		}
	}
	key, err := jwk.ParsePrivate(data)
	if err != nil {
		return nil, refusedError("the key on standard input: %v", err)
	}
	return key, nil
}

type signResult struct {
	Folder string `json:"folder"`
	*dataset.SignResult
	Verify []string `json:"verify"` // the commands that verify what was signed
}

func (e *env) sign(dir string, o dataset.SignOptions) error {
	act := e.act("checking", "signing")
	o.Progress = act.step
	if !e.json {
		o.Before = func(list []dataset.Signed) error {
			act.end()
			e.hasAnswered = true
			return writeStatements(e.out, o.Key.Kid(), list)
		}
	}
	signed, err := dataset.Sign(dir, o)
	act.end()
	if err != nil {
		return actFailure(dir, err)
	}
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	result := signResult{dir, signed, verifyCommands(dir, folder)}
	return e.answer(result, result.write)
}

// verifyCommands are what shows that the signatures hold: lint reads them all in place, verify reads a record as a reader gets it.
func verifyCommands(dir string, folder *dataset.Folder) []string {
	commands := []string{"sayso facts lint " + shellWord(dir)}
	origin, err := url.Parse(folder.Publisher.URL)
	if err != nil || len(folder.Signatures) == 0 {
		return commands
	}
	return append(commands,
		"sayso facts build "+shellWord(dir)+" --out site --origin "+shellWord(origin.Scheme+"://"+origin.Host),
		"sayso verify site/f/"+folder.Signatures[0].Key+".json --jwks "+shellWord(filepath.Join(dir, "jwks.json")))
}

// writeStatements tells the signer what the signatures will say, before one of them is written.
func writeStatements(w io.Writer, kid string, list []dataset.Signed) error {
	p := &printer{w: w}
	p.line("with key %s you now stand behind:", kid)
	for i := 0; i < len(list); {
		i += writeSigned(p, list[i:])
	}
	p.line("")
	return p.err
}

// write is what follows the statements.
func (r signResult) write(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s, %d kept, %d dropped", plural(len(r.New), "new signature"), r.Kept, r.Dropped)
	if r.EnterKey {
		p.line("%s is now listed in %s", r.Kid, filepath.Join(r.Folder, "jwks.json"))
	}
	p.line("verify:")
	for _, command := range r.Verify {
		p.line("  %s", command)
	}
	return p.err
}

// writeSigned prints the statements about the first key of a list, whole and with their source, and returns how many they are.
func writeSigned(p *printer, list []dataset.Signed) int {
	n := 0
	t := table{right: map[int]bool{0: true}}
	for _, s := range list {
		if s.Key != list[0].Key {
			break
		}
		n++
		how := "read " + s.VerifiedDate.String()
		switch {
		case !s.Withdrawn.IsZero():
			how = "withdrawal " + how
		case s.Converted:
			how = "converted " + s.VerifiedDate.String() + ", not re-read"
		}
		t.add(figure(s.Value, s.Unit), span(s.Period, s.From, s.To), how, s.Source)
	}
	p.line("\n%s  %s", list[0].Key, list[0].Label)
	p.table(&t, "  ")
	return n
}
