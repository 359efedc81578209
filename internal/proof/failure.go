package proof

import "fmt"

// The codes of a Failure, a closed list.
const (
	CodeHostNotAllowed  = "host_not_allowed"     // this host can never be proven
	CodeUnknownMethod   = "unknown_method"       // neither dns_txt nor well_known
	CodeTokenExpired    = "token_expired"        // the token, the proof or the published record is past its time
	CodeSetting         = "resolver_setting"     // the registry has too few resolvers to judge an unsigned answer
	CodeNoRecord        = "no_record"            // the record stands at the host itself, not at the challenge name
	CodeNXDomain        = "nxdomain"             // the challenge name does not exist
	CodeNoData          = "nodata"               // the challenge name exists and holds no TXT record
	CodeWrongValue      = "wrong_value"          // TXT records, none of them with the token
	CodeCNAMEChain      = "cname_chain"          // more than 8 aliases
	CodeCNAMELoop       = "cname_loop"           // an alias leads back
	CodeServFail        = "servfail"             // no usable answer, broken DNSSEC included
	CodeTimeout         = "timeout"              // no answer in time
	CodeDisagreement    = "vantage_disagreement" // vantage points see different things
	CodeHTTPStatus      = "http_status"          // a status other than 200
	CodeWrongBody       = "wrong_body"           // not text/plain, or not the token
	CodeSoft404         = "soft_404"             // any path answers with the token
	CodeRedirectRefused = "redirect_refused"     // to another host, path, port or down to http
	CodeRedirectLimit   = "redirect_limit"       // more than 3 hops
	CodeNetRefused      = "net_refused"          // an address that is not on the public internet
	CodeUnreachable     = "unreachable"          // no address or no connection
	CodeTLS             = "tls"                  // certificate or handshake
	CodeTooLarge        = "too_large"            // the body is over 4 KiB
	CodeBadResponse     = "bad_response"         // not HTTP, cut short, compressed, or headers over 16 KiB
	CodeCloaking        = "cloaking"             // another user agent sees something else
)

// Failure says why a host is not proven. Message is one sentence for the business, Next what to do about it.
type Failure struct {
	Code    string
	Message string
	Next    string
	// Counts is set when the answer shows that the proof is gone. Only such a failure brings a proven host nearer to its lapse: an outage of the DNS, of the
	// network or of a web server is not a sign that a domain has changed hands.
	Counts bool

	bogus bool // DNSSEC signatures that do not validate
}

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

func fail(code, next, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Next: next}
}

// gone is fail for an answer that shows that the proof is gone.
func gone(code, next, format string, args ...any) *Failure {
	f := fail(code, next, format, args...)
	f.Counts = true
	return f
}
