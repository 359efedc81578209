package bizhttp

import (
	"context"
	"strings"

	"sayso/business"
	"sayso/safefetch"
)

// Result is the outcome of one verification.
type Result struct {
	Verdict  *business.Verdict
	Document []byte            // what was judged, as received
	Source   *Found            // where it came from, nil when the caller gave it
	Evidence business.Evidence // what the verdict rests on
}

const notEntry = "this address is no entry point of a publisher; give its host, profile or manifest"

// Discover finds the manifest of a publisher from a host or from the address of its profile, record, manifest or MCP endpoint. Errors are
// *TransportError, *business.FormatError for an address that leads to no manifest, or ErrAddress.
func Discover(ctx context.Context, at string, o Options) (*Found, error) {
	s, end := begin(ctx, o)
	defer end()
	p, err := locate(at)
	if err != nil {
		return nil, err
	}
	if !p.manifest {
		return nil, &business.FormatError{Code: business.CodeUnsupported, Message: notEntry}
	}
	return s.fetch(p.at)
}

// Gather obtains what the verification of a document may rest on: the registry's keys, the publisher's keys (for envelopes) and both revocation lists, each
// from the locator the document names. What could not be read stays in Fetched.Err; a destination that policy refuses is not connected to.
func Gather(ctx context.Context, document []byte, o Options) business.Evidence {
	s, end := begin(ctx, o)
	defer end()
	return s.gather(document)
}

// VerifyURL verifies the manifest of the publisher that an address belongs to, or the document that stands at it. Errors are *TransportError when the
// document itself could not be read, *business.FormatError when it is none of this protocol, or ErrAddress; everything else is in the verdict.
func VerifyURL(ctx context.Context, at string, o Options) (*Result, error) {
	s, end := begin(ctx, o)
	defer end()
	p, err := locate(at)
	if err != nil {
		return nil, err
	}
	f, err := s.fetch(p.at)
	if err != nil {
		return nil, err
	}
	if s.Publisher == "" {
		s.Publisher = p.publisher
	}
	r, err := s.verify(f.Body)
	if err != nil {
		return nil, err
	}
	r.Source = f
	return r, nil
}

// VerifyDocument verifies a document wherever it came from. The error is *business.FormatError.
func VerifyDocument(ctx context.Context, document []byte, o Options) (*Result, error) {
	s, end := begin(ctx, o)
	defer end()
	return s.verify(document)
}

// fetch is get for the document that a caller asked for.
func (s *session) fetch(at string) (*Found, error) {
	if s.Offline {
		return nil, &TransportError{URL: safefetch.WithoutQuery(at), Problem: "not read, because this reader works offline; give the document itself"}
	}
	return s.get(at)
}

func (s *session) verify(document []byte) (*Result, error) {
	e := s.gather(document)
	v, err := business.Verify(document, e)
	if err != nil {
		return nil, err
	}
	return &Result{Verdict: v, Document: document, Evidence: e}, nil
}

// locators are the members of a document that say where its evidence is (X§3.4, X§6.1, X§8.7).
type locators struct {
	SigningKid      string `json:"signing_kid"`
	RegistryKeysURL string `json:"registry_keys_url"` // manifests and lists
	JWKSURL         string `json:"jwks_url"`          // envelopes
	RevocationURL   string `json:"revocation_url"`    // envelopes
	Endpoints       *struct {
		Revocations string `json:"revocations"`
	} `json:"endpoints"` // manifests
}

func (s *session) gather(document []byte) business.Evidence {
	e := business.Evidence{
		Root: s.Root, Publisher: s.Publisher, Call: s.Call, At: s.Clock(), FutureSkew: business.ReaderSkew,
		AcceptUnknown: s.AcceptUnknown, AcceptUnlisted: s.AcceptUnlisted,
	}
	var l locators
	if business.Decode(document, &l) != nil {
		l = locators{} // Verify says what is wrong with the document
	}
	keysURL, listURL := l.RegistryKeysURL, l.RevocationURL
	if l.Endpoints != nil {
		listURL = l.Endpoints.Revocations
	}
	if l.JWKSURL != "" || s.PublisherKeys != nil {
		e.PublisherKeys = s.obtain(s.PublisherKeys, l.JWKSURL)
		if at := attestedBy(e.PublisherKeys, l.SigningKid); at != "" {
			keysURL = at
		}
	}
	e.RegistryKeys = s.obtain(s.RegistryKeys, keysURL)
	e.Revocations = s.obtain(s.Revocations, registryList(keysURL))
	e.PublisherList = s.obtain(s.PublisherList, listURL)
	return e
}

// obtain returns a document that was given, else fetches it; nil when it was not looked for.
func (s *session) obtain(given []byte, at string) *business.Fetched {
	switch {
	case given != nil:
		return &business.Fetched{Body: given, At: s.Clock()}
	case at == "" || s.Offline:
		return nil
	}
	if had := s.kept[at]; had != nil {
		return had
	}
	got := s.evidence(at)
	if s.kept != nil {
		s.kept[at] = got
	}
	return got
}

func (s *session) evidence(at string) *business.Fetched {
	f, err := s.get(at)
	switch {
	case err != nil:
		return &business.Fetched{At: s.Clock(), Err: err}
	case f.Moved():
		return &business.Fetched{At: f.At, Err: &TransportError{URL: f.Asked, Problem: "redirects to another origin, which is a different source"}}
	}
	return &business.Fetched{Body: f.Body, At: f.At}
}

// attestedBy is the address of the registry keys that attested a publisher key: it stands in the attestation of that key and nowhere else (X§8.4).
func attestedBy(jwks *business.Fetched, kid string) string {
	if jwks == nil || jwks.Err != nil {
		return ""
	}
	var set business.PublisherKeys
	if business.Decode(jwks.Body, &set) != nil {
		return ""
	}
	for _, k := range set.Keys {
		if k.Kid == kid && k.Attestation != nil {
			return k.Attestation.RegistryKeysURL
		}
	}
	return ""
}

// registryList is the address of the registry-wide list. No document names it: X§2.1 fixes it beside the registry's keys.
func registryList(keysURL string) string {
	at, ok := strings.CutSuffix(safefetch.WithoutQuery(keysURL), wellKnown+"registry-keys.json")
	if !ok {
		return ""
	}
	return at + wellKnown + "revocations.json"
}
