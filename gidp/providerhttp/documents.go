package providerhttp

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Base is where the provider protocol stands below an origin. The information document is at Base itself.
const Base = "/gidp/v1/"

const (
	maxRef            = 128 // W-10
	maxEndpoint       = 512
	maxAnswer         = 64 << 10
	maxLatencySeconds = 7 * 24 * 3600
)

// Codes of refusals beside those of package provider.
const (
	CodeUnsigned    provider.Code = "unsigned"    // no valid signature of the key in the body, or one that was seen before
	CodeNotFound    provider.Code = "not_found"   // no such path
	CodeMethod      provider.Code = "method"      // not a method of this path; Allow names them
	CodeMediaType   provider.Code = "media_type"  // a body is application/json
	CodeTooLarge    provider.Code = "too_large"   // a body has at most provider.MaxBody bytes
	CodeMembers     provider.Code = "members"     // open to the members of its trust domain alone
	CodeUnavailable provider.Code = "unavailable" // the database or the DNS could not be asked; Retry-After
)

// statuses are the HTTP statuses of the refusals.
var statuses = map[provider.Code]int{
	provider.CodeMalformed: http.StatusBadRequest,
	provider.CodeRefused:   http.StatusUnprocessableEntity,
	provider.CodeBroad:     http.StatusUnprocessableEntity,
	provider.CodeUnknown:   http.StatusNotFound,
	provider.CodeStale:     http.StatusGone,
	provider.CodeQuota:     http.StatusTooManyRequests,
	provider.CodeBanned:    http.StatusForbidden,
	provider.CodeBehind:    http.StatusServiceUnavailable,
	provider.CodeInternal:  http.StatusInternalServerError,
	CodeUnsigned:           http.StatusUnauthorized,
	CodeNotFound:           http.StatusNotFound,
	CodeMethod:             http.StatusMethodNotAllowed,
	CodeMediaType:          http.StatusUnsupportedMediaType,
	CodeTooLarge:           http.StatusRequestEntityTooLarge,
	CodeMembers:            http.StatusForbidden,
	CodeUnavailable:        http.StatusServiceUnavailable,
}

// The reasons of a report of abuse.
const (
	ReasonIdentity    = "identifies_somebody" // the projection or its endpoint names or betrays a person or an organisation
	ReasonFraud       = "fraudulent"          // the interest is pretended
	ReasonUnlawful    = "unlawful"
	ReasonProbing     = "probing" // its agent sells, collects or tests instead of looking for a counterparty
	ReasonUnreachable = "unreachable"
)

// Reasons are the reasons that a report can have, in the order of their names.
func Reasons() []string {
	return []string{ReasonFraud, ReasonIdentity, ReasonProbing, ReasonUnlawful, ReasonUnreachable}
}

// The bodies of requests.
type (
	publicationBody struct {
		Key         jcs.Raw             `json:"key"`
		Projection  jcs.Raw             `json:"projection"`
		Attributes  map[string][]string `json:"attributes,omitempty"`
		Hierarchies map[string]string   `json:"hierarchies,omitempty"`
	}
	queryBody struct {
		Key        jcs.Raw             `json:"key"`
		Projection jcs.Raw             `json:"projection"`
		Attributes map[string][]string `json:"attributes,omitempty"`
		Limit      int                 `json:"limit"`
		Cursor     string              `json:"cursor,omitempty"`
	}
	keyBody struct {
		Key jcs.Raw `json:"key"`
	}
	reportBody struct {
		Key           jcs.Raw `json:"key"`
		ProjectionRef string  `json:"projection_ref"`
		Reason        string  `json:"reason"`
	}
)

// The bodies of answers, beside Page and Info.
type (
	receipt struct {
		ProjectionRef   string `json:"projection_ref"`
		WithdrawLatency int    `json:"withdraw_latency_s"`
	}
	acknowledgement struct {
		Acknowledged bool   `json:"acknowledged"`
		EffectiveBy  string `json:"effective_by"` // RFC 3339, UTC, whole seconds
	}
	resolution struct {
		Endpoint      string `json:"endpoint"`
		ProjectionRef string `json:"projection_ref"`
	}
	received struct {
		Received bool `json:"received"`
	}
	problem struct {
		Code    provider.Code `json:"error"`
		Message string        `json:"message"`
	}
)

// Info is the information document of a provider: what it promises, what it resolves, how much it serves. It tells nothing of what it holds.
type Info struct {
	Protocol        string            `json:"protocol"` // "gidp/0.1"
	Origin          string            `json:"origin"`   // whose authority requests are signed for
	WithdrawLatency int               `json:"withdraw_latency_s"`
	Dimensions      []string          `json:"dimensions"`  // retrieval attributes, sorted
	Hierarchies     map[string]string `json:"hierarchies"` // by dimension: NAME/VERSION of the tree that is resolved
	Quotas          Quotas            `json:"quotas"`
	MaxLife         int               `json:"max_ttl_days"`
	MaxPage         int               `json:"max_page"`
	TrustDomain     string            `json:"trust_domain,omitempty"` // "": open to all, public and discovery attributes alone
	LogRetention    LogRetention      `json:"log_retention"`
	ReportReasons   []string          `json:"report_reasons"`
	Federated       bool              `json:"federated"` // false in 0.1 (P-15)
}

// Quotas say what one key has in one hour of the clock, by quota class ("" for those without a membership); one network, a /24 or /48, has NetworkFactor times
// that.
type Quotas struct {
	Window        int              `json:"window_s"`
	NetworkFactor int              `json:"network_factor"`
	PerKey        map[string]Quota `json:"per_key"`
}

// Quota is how many of each operation.
type Quota struct {
	Write      int `json:"publish_update_withdraw"`
	Search     int `json:"query"`
	Resolving  int `json:"resolve"`
	Candidates int `json:"candidates"` // returned by queries
}

// LogRetention says what the log holds, and for how many days the operator keeps it.
type LogRetention struct {
	Holds string `json:"holds"` // "counts" in 0.1: of operations in an hour, rounded to tens, without keys, references, queries or addresses
	Days  int    `json:"days"`
}

func infoOf(p provider.Info, origin string, retention time.Duration) Info {
	out := Info{
		Protocol: wire.Version, Origin: origin, WithdrawLatency: seconds(p.Latency), Dimensions: slices.Sorted(slices.Values(p.Dimensions)), Hierarchies: maps.Clone(p.Hierarchies),
		Quotas:  Quotas{Window: 3600, NetworkFactor: p.NetworkTimes, PerKey: map[string]Quota{}},
		MaxLife: int(p.MaxLife / (24 * time.Hour)), MaxPage: p.MaxLimit, TrustDomain: p.TrustDomain,
		LogRetention:  LogRetention{Holds: "counts", Days: int((retention + 24*time.Hour - 1) / (24 * time.Hour))},
		ReportReasons: Reasons(), Federated: p.Federated,
	}
	for tier, l := range p.Limits {
		out.Quotas.PerKey[tier] = Quota{l[provider.Write], l[provider.Search], l[provider.Resolving], l[provider.Candidates]}
	}
	return out
}

// seconds rounds up: what is promised is never less than what is meant.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
