package cli

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sayso/facts"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/jwk"
)

func init() {
	register("provider", newProviderBan)
	register("provider", newProviderUnban)
	register("provider", newProviderBans)
}

// banned names who is shut out: the key of a projection, a key by its thumbprint, or a network.
type banned struct{ ref, key, network string }

func (b *banned) add(flags *pflag.FlagSet) {
	flags.StringVar(&b.key, "key", "", "thumbprint of a key, as reports and bans print it, in place of REF")
	flags.StringVar(&b.network, "network", "", "network in place of REF, CIDR")
}

// ban resolves who is meant.
func (e *env) ban(rows providerhttp.Rows, b banned) (ban providerhttp.Ban, err error) {
	ban.At = time.Now().UTC().Truncate(time.Second)
	switch {
	case b.ref != "":
		ref, ok := provider.ParseRef(b.ref)
		var row provider.Row
		if ok {
			row, ok, err = rows.Projection(e.ctx, ref)
		}
		if err == nil && !ok {
			err = notFoundError("this provider has no projection %q", b.ref).withHint("it may have expired: name its key, as reports print it, with --key")
		}
		ban.Key = row.Owner
	case b.key != "":
		raw, unread := jwk.DecodeBase64URL(b.key)
		if unread != nil || len(raw) != len(ban.Key) {
			return ban, usageError("--key %q is no thumbprint of a key: 43 characters of base64url", b.key)
		}
		ban.Key = provider.Thumbprint(raw)
	default:
		network, unread := netip.ParsePrefix(b.network)
		if unread != nil || network.Addr().Is4In6() {
			return ban, usageError("--network %q is not a network such as 203.0.113.0/24", b.network)
		}
		network = network.Masked()
		if network.Overlaps(netip.MustParsePrefix("127.0.0.0/8")) || network.Contains(netip.IPv6Loopback()) {
			return ban, usageError("--network %s holds this machine, which is never shut out", network)
		}
		ban.Network = network.String()
	}
	return ban, err
}

// one takes a reference from the arguments and holds the call to naming exactly one of the three.
func (b *banned) one(args []string) error {
	if len(args) > 0 {
		b.ref = args[0]
	}
	n := 0
	for _, text := range []string{b.ref, b.key, b.network} {
		if text != "" {
			n++
		}
	}
	if n != 1 {
		return usageError("name one projection, or one key with --key, or one network with --network")
	}
	return nil
}

func newProviderBan(e *env) *cobra.Command {
	var who banned
	var until, period, reason string
	c := &cobra.Command{
		Use:   "ban [REF] --for DAYS --reason REASON",
		Short: "Shut out the key of a projection, or a network",
		Long: "Ban shuts out the key that published a projection: it is refused, and the projection is returned no more, everywhere within two seconds. With --network it shuts out whoever calls from there. " +
			"A key costs nothing, so who was banned can come back under another one; a network is what is harder to get, and shared by people who did nothing.\n\n" +
			"The ban ends by itself. REASON is yours and is never published. A reference that begins with - comes last, behind --.",
		Example: "  sayso provider ban 3q2-7w... --for 30d --reason \"three reports of fraud\"\n  sayso provider ban --network 203.0.113.0/24 --until 2026-12-01T00:00:00Z --reason harvesting",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := who.one(args); err != nil {
				return err
			}
			end, err := banEnd(until, period, time.Now())
			if err != nil {
				return err
			}
			if reason == "" || len(reason) > 500 {
				return usageError("--reason says in at most 500 bytes why, for whoever looks at the bans later")
			}
			return e.onProvider(func(rows providerhttp.Rows) error {
				ban, err := e.ban(rows, who)
				if err != nil {
					return err
				}
				ban.Until, ban.Reason = end, reason
				if err := rows.PutBan(e.ctx, ban); err != nil {
					return err
				}
				view := viewBan(ban)
				return e.answer(view, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "shut out %s until %s\n", view.who(), view.Until)
					return err
				})
			})
		},
	}
	flags := c.Flags()
	who.add(flags)
	flags.StringVar(&until, "until", "", "when it ends, RFC 3339")
	flags.StringVar(&period, "for", "", "how long it lasts, as 30d, 12w, 6m or 1y")
	flags.StringVar(&reason, "reason", "", "why")
	return c
}

// banEnd is when a ban ends.
func banEnd(until, period string, now time.Time) (time.Time, error) {
	if (until == "") == (period == "") {
		return time.Time{}, usageError("a ban has an end: give --until INSTANT or --for DAYS")
	}
	end, err := instantFlag("until", until)
	if err != nil {
		return end, err
	}
	if period != "" {
		days, err := facts.ParseDuration(period)
		if err != nil {
			return end, usageError("--for: %v", err)
		}
		end = now.UTC().Truncate(time.Second).AddDate(0, 0, days)
	}
	if !end.After(now) {
		return end, usageError("the ban would have ended already").withHint("sayso provider unban ends one")
	}
	return end, nil
}

func newProviderUnban(e *env) *cobra.Command {
	var who banned
	c := &cobra.Command{
		Use:     "unban [REF]",
		Short:   "End a ban",
		Long:    "Unban ends the ban of the key of a projection, of a key, or of a network, everywhere within two seconds. A reference that begins with - comes last, behind --. Exit 3 when there is none.",
		Example: "  sayso provider unban --network 203.0.113.0/24\n  sayso provider unban 3q2-7w...",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := who.one(args); err != nil {
				return err
			}
			return e.onProvider(func(rows providerhttp.Rows) error {
				ban, err := e.ban(rows, who)
				if err != nil {
					return err
				}
				list, err := rows.Bans(e.ctx)
				if err != nil {
					return err
				}
				for _, held := range list {
					if held.Key != ban.Key || held.Network != ban.Network || !held.Until.After(ban.At) {
						continue
					}
					held.Until, held.At = ban.At, ban.At
					if err := rows.PutBan(e.ctx, held); err != nil {
						return err
					}
					view := viewBan(held)
					return e.answer(view, func(w io.Writer) error {
						_, err := fmt.Fprintf(w, "let in %s again\n", view.who())
						return err
					})
				}
				return notFoundError("%s is not shut out", viewBan(ban).who()).withRun("sayso provider bans")
			})
		},
	}
	who.add(c.Flags())
	return c
}

func newProviderBans(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "bans",
		Short:   "List who is shut out",
		Long:    "Bans prints the keys and networks that are shut out now, until when, and why.",
		Example: "  sayso provider bans\n  sayso provider bans --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.onProvider(func(rows providerhttp.Rows) error {
				list, err := rows.Bans(e.ctx)
				if err != nil {
					return err
				}
				now, out := time.Now(), []banView{}
				for _, b := range list {
					if b.Until.After(now) {
						out = append(out, viewBan(b))
					}
				}
				return e.answer(struct {
					Bans []banView `json:"bans"`
				}{out}, func(w io.Writer) error { return writeBans(w, out) })
			})
		},
	}
}

// banView is one ban as the operator sees it: of a key or of a network.
type banView struct {
	Key     string `json:"key,omitempty"`
	Network string `json:"network,omitempty"`
	Until   string `json:"until"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
}

func viewBan(b providerhttp.Ban) banView {
	v := banView{Network: b.Network, Until: stamp(b.Until), Reason: b.Reason, At: stamp(b.At)}
	if b.Network == "" {
		v.Key = thumbText(b.Key)
	}
	return v
}

func (v banView) who() string {
	if v.Network != "" {
		return "network " + v.Network
	}
	return "key " + v.Key
}

func writeBans(w io.Writer, list []banView) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("nobody is shut out")
	}
	var t table
	for _, v := range list {
		t.add(v.who(), "until "+v.Until, v.Reason)
	}
	p.table(&t, "")
	return p.err
}
