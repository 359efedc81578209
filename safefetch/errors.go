package safefetch

import (
	"errors"
	"fmt"
)

// ErrRefused is the root of every refusal by policy; its text does not tell refused from unreachable to outsiders.
var ErrRefused = errors.New("safefetch: refused")

func refuse(reason string) error { return fmt.Errorf("%w: %s", ErrRefused, reason) }

// The closed list of FetchError.Kind.
const (
	KindDNS      = "dns"       // the name has no address
	KindConnect  = "connect"   // no connection; also an address that policy forbids
	KindTLS      = "tls"       // the certificate or the handshake
	KindTimeout  = "timeout"   // the total time of the policy is over
	KindTooLarge = "too large" // the body is larger than the policy allows
	KindProtocol = "protocol"  // not HTTP, cut short, or an encoding that was not asked for
)

// FetchError is a failure that is not a refusal: Kind is a closed word (dns, connect, tls, timeout, too large, protocol).
// It matches ErrRefused when the address was refused; the text is that of an unreachable host then.
type FetchError struct {
	Kind string
	URL  string // without query and fragment

	refused bool
}

func (e *FetchError) Error() string {
	what := map[string]string{
		KindDNS:      "the host cannot be reached",
		KindConnect:  "the host cannot be reached",
		KindTLS:      "the secure connection failed, check the certificate of the host",
		KindTimeout:  "no complete answer in time",
		KindTooLarge: "the answer is larger than allowed",
		KindProtocol: "the answer is not usable HTTP",
	}[e.Kind]
	return "fetch " + e.URL + ": " + what
}

// Is reports a refused address as ErrRefused to callers that ask, without showing it in the text.
func (e *FetchError) Is(target error) bool { return e.refused && target == ErrRefused }
