package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
	"sayso/jwk"
)

func init() { register("interest", newInterestTrust) }

func newInterestTrust(e *env) *cobra.Command {
	return subgroup(&cobra.Command{
		Use:   "trust",
		Short: "Say whom you believe about other agents",
		Long: "A policy may let a member of a network, a verified agent or an attested one have more than a stranger. Trust keeps whose word counts for that: the key of an issuer, and the one property that it is believed about. Without an " +
			"entry for a property everybody is a stranger. It counts for all interests of the data folder.\n\n" +
			"An issuer can make anybody a member, itself too, so believe one as far as you would let it choose who gets what your policy gives to members.",
		Example: "  sayso interest trust add member:guild.example guild.pub.json\n  sayso interest trust list",
	}, newTrustAdd(e), newTrustList(e), newTrustRemove(e))
}

func newTrustAdd(e *env) *cobra.Command {
	provider := ""
	c := &cobra.Command{
		Use:   "add PROPERTY FILE|--provider URL",
		Short: "Believe an issuer about a property, or a provider to be inside a domain",
		Long: "Add believes the issuer whose public key is in FILE, a JWK or a JWK Set of one key, about one property: verified_agent, member:DOMAIN or attested:CLASS. Get the file from the issuer itself, and compare the thumbprint that is " +
			"printed.\n\n" +
			"With --provider, and PROPERTY member:DOMAIN, it takes a provider of discovery to be inside that domain instead: projections and searches there show what a policy keeps for the network as well, and a membership where " +
			"the interest has an attestation for it, which is used up by each. What a provider says of itself counts for nothing, so ask who runs it. It counts for what is published from then on.\n\n" +
			"Exit 1 when the file holds no such key, or PROPERTY cannot be attested, 4 when the provider is inside another domain already.",
		Example: "  sayso interest trust add member:guild.example guild.pub.json\n  sayso interest trust add member:guild.example --provider https://provider.guild.example",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if (provider == "") != (len(args) == 2) {
				return usageError("trust add takes PROPERTY and either FILE or --provider URL")
			}
			if provider != "" {
				return e.withInterests(func(i *interests) error {
					v, err := i.TrustProvider(e.ctx, args[0], provider)
					if err != nil {
						return err
					}
					return e.answer(v, func(w io.Writer) error {
						_, err := fmt.Fprintf(w, "the provider %s is inside the domain of %s\n", v.Provider, v.Property)
						return err
					})
				})
			}
			issuer, err := e.readIssuerKey(args[1])
			if err != nil {
				return err
			}
			return e.withInterests(func(i *interests) error {
				v, err := i.Trust(e.ctx, args[0], issuer)
				if err != nil {
					return err
				}
				return e.answer(v, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "the issuer %s is believed about %s\n", v.Issuer, v.Property)
					return err
				})
			})
		},
	}
	c.Flags().StringVar(&provider, "provider", "", "provider of discovery that is inside the domain: its origin")
	return c
}

// readIssuerKey reads one public key: a JWK, or a set of one.
func (e *env) readIssuerKey(name string) (ed25519.PublicKey, error) {
	text, err := e.readBounded(name, maxKeyFile)
	if err != nil {
		return nil, err
	}
	pub, err := jwk.ParsePublic(text)
	if err == nil {
		return pub, nil
	}
	if bad, ok := errors.AsType[*jwk.Error](err); ok && bad.Reason == jwk.HasPrivate {
		return nil, failedError("%s holds a private key", inputName(name)).withHint("whoever has it can attest anything; take the public half, which sayso keys new prints")
	}
	set, err := jwk.ParseSet(text)
	if err != nil || len(set.Keys) != 1 {
		return nil, failedError("%s does not hold one public Ed25519 key and nothing else", inputName(name)).withHint("it is a JWK, or a JWK Set of one key, as sayso keys new prints it")
	}
	return set.Keys[0].Public, nil
}

func newTrustList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List whom you believe about what",
		Long:    "List prints the properties that some issuer is believed about with the thumbprint of its key, and the providers that are inside a trust domain.",
		Example: "  sayso interest trust list",
		RunE: func(*cobra.Command, []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Trusted()
				if err != nil {
					return err
				}
				return e.answer(struct {
					Issuers []agent.TrustView `json:"issuers"`
				}{noNull(list)}, func(w io.Writer) error {
					p := &printer{w: w}
					if len(list) == 0 {
						p.line("nobody is believed: every counterparty is a stranger")
					}
					var t table
					for _, v := range list {
						name := "issuer " + v.Issuer
						if v.Provider != "" {
							name = "provider " + v.Provider
						}
						t.add(v.Property, name, "since "+stamp(v.Added))
					}
					p.table(&t, "")
					return p.err
				})
			})
		},
	}
}

func newTrustRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "remove PROPERTY ISSUER|URL",
		Short: "Believe an issuer about a property no more",
		Long: "Remove ends the belief in an issuer, named by its thumbprint, about a property, or takes a provider, named by its origin, out of a domain. What an issuer attested counts no more from the next step of every session " +
			"on; what was told to a member is told, and what is published at a provider stays until you withdraw it. Exit 3 when there is no such entry.",
		Example: "  sayso interest trust remove member:guild.example kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				v, err := i.Distrust(e.ctx, args[0], args[1])
				if err != nil {
					return err
				}
				return e.answer(v, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s is believed about %s no more\n", args[1], v.Property)
					return err
				})
			})
		},
	}
}
