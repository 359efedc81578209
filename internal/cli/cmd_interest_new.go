package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/gidp/profile"
	"sayso/internal/agent/interestfile"
)

func init() { register("interest", newInterestNew) }

// delegations are the presets of authority, the most careful one first (§16.4).
var delegations = []string{"conservative", "moderate", "advanced"}

func newInterestNew(e *env) *cobra.Command {
	var profileID, delegation, out string
	c := &cobra.Command{
		Use:   "new --profile PROFILE [--delegation LEVEL] [--out FILE]",
		Short: "Write a form for a private interest",
		Long: "New writes an interest as a YAML form for you to fill in: every key of the profile with the class that is suggested for it and what that class means, the cells in which numbers are " +
			"compared, and the authority of your agent. Nothing of it leaves the machine.\n\n" +
			"Profiles are " + profileNames() + "; the last part of the name is enough.\n\n" +
			"--delegation sets the table of authority: conservative asks you before every disclosure, moderate (the default) answers questions and discloses what the policy lets out and asks before " +
			"your name is told, advanced lets it state terms that bind nobody, too. Change single lines as you like.\n\n" +
			"The form is printed, or written to a new file that only you can read. Exit 4 when the file exists.",
		Example: "  sayso interest new --profile corporate-transaction --out interest.yaml\n  sayso interest new --profile partnership --delegation conservative > interest.yaml",
		RunE: func(*cobra.Command, []string) error {
			return e.newInterest(profileID, delegation, out)
		},
	}
	flags := c.Flags()
	flags.StringVar(&profileID, "profile", "", "what the interest is about")
	flags.StringVar(&delegation, "delegation", "moderate", "authority of the agent: "+strings.Join(delegations, ", "))
	flags.StringVar(&out, "out", "", "new file to write to, - for standard output (default)")
	return c
}

func profileNames() string { return strings.Join(profile.Shipped().IDs(), ", ") }

// namedProfile finds a profile by its id, or by the part of it that tells it from the others. near is the nearest name when there is none.
func namedProfile(ids []string, name string) (id, near string, ok bool) {
	names := slices.Clone(ids)
	for _, id := range ids {
		if part := strings.Split(id, "/"); len(part) == 3 {
			names = append(names, part[1])
			if part[1] == name {
				return id, "", true
			}
		}
	}
	if slices.Contains(ids, name) {
		return name, "", true
	}
	return "", facts.NearestName(name, names), false
}

func profileOf(set *profile.Set, name string) (string, error) {
	id, near, ok := namedProfile(set.IDs(), name)
	switch {
	case ok:
		return id, nil
	case name == "":
		return "", usageError("--profile is missing: what the interest is about").withHint("profiles are %s", profileNames())
	case near != "":
		return "", usageError("--profile %q is no profile", name).withHint("did you mean %s?", near)
	}
	return "", usageError("--profile %q is no profile", name).withHint("profiles are %s", profileNames())
}

// madeInterest is the answer of interest new.
type madeInterest struct {
	Profile    string `json:"profile"`
	Delegation string `json:"delegation"`
	File       string `json:"file,omitempty"`
	Text       string `json:"text,omitempty"` // of the form, when it was written to no file
}

func (e *env) newInterest(name, delegation, out string) error {
	set := profile.Shipped()
	id, err := profileOf(set, name)
	if err != nil {
		return err
	}
	if !slices.Contains(delegations, delegation) {
		return usageError("--delegation %q is not one of %s", delegation, strings.Join(delegations, ", "))
	}
	text, err := interestfile.Template(set, id, delegation)
	if err != nil {
		return err
	}
	made := madeInterest{Profile: id, Delegation: delegation}
	if out == "" || out == "-" {
		made.Text = string(text)
		return e.answer(made, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	made.File = out
	if err := writePrivate(out, text); err != nil {
		return err
	}
	if err := e.answer(made, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s, a form of %s\n", printable(out), id)
		return err
	}); err != nil {
		return err
	}
	e.note("next: fill it in, then %s", e.command("interest check %s", shellWord(out)))
	return nil
}

// writePrivate writes a new file that its owner alone can read.
func writePrivate(path string, text []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
