package providerhttp

import (
	"context"
	"net/http"
	"time"

	"sayso/gidp/attestation"
	"sayso/gidp/provider"
	"sayso/jwk"
)

// MemberTier is the quota class of callers that show a membership.
const MemberTier = "member"

// membershipHeader carries an attestation (package attestation) of member:DOMAIN, bound to the origin of the provider and the key of the request. It is outside
// of the signature, and need not be in it: it holds for that key alone.
const membershipHeader = "Gidp-Membership"

type membershipKey struct{}

// WithMembership returns a context under which a [Client] shows a membership with each call: [attestation.Present] for the origin of the provider and the key
// of the call. "" shows none.
func WithMembership(ctx context.Context, text string) context.Context {
	if text == "" {
		return ctx
	}
	return context.WithValue(ctx, membershipKey{}, text)
}

// Membership is what [WithMembership] put into a context, "" when that is nothing.
func Membership(ctx context.Context) string {
	text, _ := ctx.Value(membershipKey{}).(string)
	return text
}

// tier is the quota class of a caller. What does not verify is no membership, and which check it failed is not said.
func (s *Service) tier(x *exchange, key string) (string, bool) {
	switch {
	case s.o.Tier != nil:
		return s.o.Tier(x.r)
	case len(s.o.MemberIssuers) == 0:
		return "", true
	case s.member(x, key):
		return MemberTier, true
	}
	_, open := s.o.Tiers[""]
	return "", open
}

func (s *Service) member(x *exchange, key string) bool {
	shown := x.r.Header[membershipHeader]
	if len(shown) != 1 {
		return false
	}
	read, err := attestation.Read(shown[0])
	if err != nil || read.Property != "member:"+s.o.TrustDomain {
		return false
	}
	now := x.now
	if x.r.Method == http.MethodDelete && !now.Before(read.Expires) { // a member no more may still take back what it published
		now = read.Expires.Add(-time.Second)
	}
	for _, issuer := range s.o.MemberIssuers {
		if jwk.Thumbprint(issuer) == read.Issuer {
			_, err := attestation.Verify(shown[0], issuer, attestation.Binding{Provider: s.o.Origin, Key: key}, now)
			return err == nil
		}
	}
	return false
}

// memberTiers are the quota classes, members alone where there are issuers and nothing else is configured.
func memberTiers(o Options) map[string]provider.Limits {
	if o.Tiers == nil && len(o.MemberIssuers) > 0 && o.Tier == nil {
		return map[string]provider.Limits{MemberTier: provider.DefaultLimits}
	}
	return o.Tiers
}
