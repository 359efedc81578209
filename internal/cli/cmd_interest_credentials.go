package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/attestation"
	"sayso/internal/agent"
	"sayso/jcs"
)

func init() { register("interest", newInterestCredentials) }

const credentialProcedure = "An attestation says one thing about your agent: that it is a verified_agent, a member:DOMAIN, or attested:CLASS. Somebody else issues it, a trade association, say, and the other side of a session " +
	"decides whether it believes that issuer. Each is shown in one session and used up by it, so that two sessions do not show that they are yours; the issuer alone could tell, if the other sides gave it what they saw.\n\n" +
	"  sayso interest credentials request ID > request.json      you\n" +
	"  sayso interest credentials issue request.json ...         an issuer\n" +
	"  sayso interest credentials add ID batch.json              you again\n\n" +
	"Your agent shows what was added for an interest in each session that it opens for it, so add only what those whom it turns to may know. In a session that somebody else opens it shows a property to those who have shown the same " +
	"one; and it shows one to whoever wants to see it before it answers a request of yours. Without any left sessions go on without."

func newInterestCredentials(e *env) *cobra.Command {
	return subgroup(&cobra.Command{
		Use:     "credentials",
		Short:   "Keep and issue attestations: member, verified agent, attested",
		Long:    credentialProcedure,
		Example: "  sayso interest credentials list i-6d0f8a1c33b94e20a7f1\n  sayso interest credentials request i-6d0f8a1c33b94e20a7f1 > request.json",
	}, newCredentialsRequest(e), newCredentialsIssue(e), newCredentialsAdd(e), newCredentialsList(e), newCredentialsRemove(e))
}

func newCredentialsRequest(e *env) *cobra.Command {
	count := 0
	c := &cobra.Command{
		Use:   "request ID [--count N]",
		Short: "Print a request for attestations",
		Long: "Request prints a request for attestations for the sessions of an interest, one key for each. It says nothing of the interest; whoever gets it learns that you want them. The keys follow from the data folder, so " +
			"what comes back can be added to this interest in this folder alone.\n\nExit 3 when there is no such interest.",
		Example: "  sayso interest credentials request i-6d0f8a1c33b94e20a7f1 > request.json\n  sayso interest credentials request i-6d0f8a1c33b94e20a7f1 --count 100 > request.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if count < 1 || count > attestation.MaxBatch {
				return usageError("--count %d is not 1 to %d", count, attestation.MaxBatch)
			}
			return e.withInterests(func(i *interests) error {
				made, err := i.RequestCredentials(e.ctx, args[0], count)
				if err != nil {
					return err
				}
				return e.answerEntry(made.Request)
			})
		},
	}
	c.Flags().IntVar(&count, "count", 50, "how many attestations, each for one session")
	return c
}

func newCredentialsIssue(e *env) *cobra.Command {
	var key, property string
	weeks := 0
	c := &cobra.Command{
		Use:   "issue REQUEST --key FILE --property PROPERTY [--weeks N]",
		Short: "Attest a property to the holder of a request",
		Long: "Issue is for who runs a network or a register: it attests one property to every key of a request and prints the batch. Who brings the request, and whether the property is true of them, is yours to know; the command looks at " +
			"neither. It needs no data folder.\n\n" +
			"What is issued cannot be called back: it ends on a Monday, --weeks from this one, so choose few. You can tell whose an attestation is as long as you keep the request; delete it if you need not. Those who are to believe you need the " +
			"public half of your key, which sayso keys new prints: sayso interest trust add PROPERTY FILE.\n\nExit 3 when there is no such key file, 4 when it is not safe to use, 1 when the request cannot be read.",
		Example: "  sayso interest credentials issue request.json --key guild.jwk --property member:guild.example > batch.json\n" +
			"  sayso interest credentials issue request.json --key guild.jwk --property verified_agent --weeks 1 > batch.json",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case key == "":
				return usageError("--key is missing: a file with the private key of the issuer").withHint("make a key").withRun("sayso keys new --kid NAME-YYYY-MM")
			case attestation.CheckProperty(property) != nil:
				return usageError("--property %q is nothing that can be attested", property).withHint("verified_agent, member:DOMAIN or attested:CLASS")
			case weeks < 1 || weeks > attestation.MaxWeeks:
				return usageError("--weeks %d is not 1 to %d", weeks, attestation.MaxWeeks)
			}
			text, err := e.readBounded(args[0], attestation.MaxFile)
			if err != nil {
				return err
			}
			slots, err := attestation.ReadRequest(text)
			if err != nil {
				return failedError("%s: %v", inputName(args[0]), err).withHint("the holder makes it").withRun("sayso interest credentials request ID")
			}
			private, err := e.readPrivateKey(key)
			if err != nil {
				return keyFailure(err)
			}
			now := time.Now()
			until := attestation.Expiry(now, weeks)
			batch, err := attestation.IssueBatch(slots, property, until, private, now)
			if err != nil {
				return failedError("%v", err)
			}
			if err := e.answerEntry(jcs.Raw(batch)); err != nil {
				return err
			}
			e.note("%s, %s until %s; give the batch to its holder alone", plural(len(slots), "attestation"), property, until.Format(time.DateOnly))
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&key, "key", "", "file with the private key of the issuer, - for standard input")
	flags.StringVar(&property, "property", "", "what is attested: verified_agent, member:DOMAIN or attested:CLASS")
	flags.IntVar(&weeks, "weeks", 4, "until which Monday from now on")
	return c
}

// readBounded reads a whole input.
func (e *env) readBounded(name string, most int) ([]byte, error) {
	f, err := e.openInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = failedError("%s has more than %d bytes", inputName(name), most)
	}
	return text, err
}

func newCredentialsAdd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "add ID BATCH",
		Short: "Keep the attestations of a batch for an interest",
		Long: "Add verifies a batch and keeps its attestations, sealed, for the sessions of an interest and of its later versions. From then on its agent shows one in each session that it opens. The answer names the issuer by the thumbprint of " +
			"its key, which you can compare with what it says elsewhere.\n\n" +
			"After the data folder was put back from a copy, remove what is left and ask for a new batch: what was shown since the copy would be shown again, and link the two sessions.\n\n" +
			"Exit 1 when the batch cannot be used, 3 when there is no such interest, 4 when it is for other keys or was added before.",
		Example: "  sayso interest credentials add i-6d0f8a1c33b94e20a7f1 batch.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := e.readBounded(args[1], attestation.MaxFile)
			if err != nil {
				return err
			}
			return e.withInterests(func(i *interests) error {
				v, err := i.AddCredentials(e.ctx, args[0], text)
				if err != nil {
					return err
				}
				return e.answer(v, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s for %s, of the issuer %s, until %s\n", plural(v.Left, "attestation"), v.Property, v.Issuer, v.Expires.Format(time.DateOnly))
					return err
				})
			})
		},
	}
}

func newCredentialsList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "list ID",
		Short:   "List what an interest has to show",
		Long:    "List prints, for an interest, how many attestations are left of each property, whose they are, and until when. Each is for one session. Exit 3 when there is no such interest.",
		Example: "  sayso interest credentials list i-6d0f8a1c33b94e20a7f1",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Credentials(e.ctx, args[0])
				if err != nil {
					return err
				}
				return e.answer(struct {
					Credentials []agent.CredentialView `json:"credentials"`
				}{noNull(list)}, func(w io.Writer) error {
					p := &printer{w: w}
					if len(list) == 0 {
						p.line("nothing to show")
					}
					var t table
					for _, v := range list {
						t.add(v.Property, fmt.Sprintf("%d left", v.Left), "until "+v.Expires.Format(time.DateOnly), "issuer "+v.Issuer)
					}
					p.table(&t, "")
					return p.err
				})
			})
		},
	}
}

func newCredentialsRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID PROPERTY",
		Short:   "Show a property no more",
		Long:    "Remove drops the attestations of an interest for a property. What was shown stays shown. A batch can be added again; what was shown of it is not. Exit 3 when there is none.",
		Example: "  sayso interest credentials remove i-6d0f8a1c33b94e20a7f1 member:guild.example",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				n, err := i.RemoveCredentials(e.ctx, args[0], args[1])
				if err != nil {
					return err
				}
				return e.answer(struct {
					Interest string `json:"interest"`
					Property string `json:"property"`
					Removed  int    `json:"removed"`
				}{args[0], args[1], n}, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "removed %s for %s\n", plural(n, "attestation"), args[1])
					return err
				})
			})
		},
	}
}
