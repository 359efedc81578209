package business

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"sayso/jcs"
	"sayso/jwk"
)

// document is what was verified, read from its canonical form.
type document struct {
	kind      string
	top       object
	digest    [32]byte // of the canonical form without attestation
	signed    bool     // there is an attestation
	block     object   // the attestation, nil when it is no object
	publisher string   // slug the document speaks for
	keysName  string   // member of the payload that repeats attestation.jwks_url
	signedAt  time.Time
	signedOK  bool // signed_at stands in the payload and is a time
}

func malformed(message string) *FormatError {
	return &FormatError{Code: CodeMalformed, Message: message}
}

func unsupported(rule, message string) *FormatError {
	return &FormatError{Code: CodeUnsupported, Rule: rule, Message: message}
}

// read takes a document apart and refuses what this reader does not understand.
func read(data []byte) (*document, error) {
	canon, err := Canon(data)
	if err != nil {
		if isExport(data) {
			return &document{kind: KindUnknown}, nil
		}
		var e *jcs.Error
		if errors.As(err, &e) {
			return nil, malformed("the text is no JSON document of this protocol: " + e.Error())
		}
		return nil, malformed("the text is no JSON document of this protocol")
	}
	top, ok := text(canon).object()
	if !ok {
		return nil, malformed("a document of this protocol is a JSON object")
	}
	d := &document{top: top}
	if d.kind, err = kindOf(top); err != nil {
		return nil, err
	}
	if d.kind == KindEnvelope {
		if err := checkCoverage(top); err != nil {
			return nil, err
		}
	}
	d.keysName = registryKeysName
	switch d.kind {
	case KindEnvelope:
		d.keysName = publisherKeysName
		d.publisher = top.object("publisher").str("tenant")
	case KindRevocations:
		d.publisher = top.str("publisher")
	default:
		d.publisher = top.object("publisher").str("tenant")
	}
	d.digest = hashWithout(canon, top, "attestation")
	block := top.get("attestation")
	d.signed = block != nil
	d.block, _ = block.object()
	d.signedAt, d.signedOK = parseTime(top.str("signed_at"))
	return d, nil
}

// kindOf tells the documents apart. An envelope states no protocol_x_version in X§6.1, neither does a list; whoever states one must state one that is known.
func kindOf(top object) (string, error) {
	version := top.get("protocol_x_version")
	if version != nil && top.str("protocol_x_version") != Version {
		return "", unsupported("XP-VERSION-001", "the document states a protocol_x_version this reader does not know; it knows "+Version)
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return top.get(name) == nil })
	}
	switch {
	case version != nil && has("endpoints", "authenticity"):
		return KindManifest, nil
	case has("coverage") || has("result") || has("tool"):
		return KindEnvelope, nil
	case has("entries", "issued_at"):
		return KindRevocations, nil
	case version != nil || has("_meta"):
		return KindUnknown, nil
	}
	return "", unsupported("XP-VERSION-001", "the document states no protocol_x_version and is neither an envelope nor a revocation list")
}

// isExport recognises the bulk export, several JSON texts of which the first says _meta. It is never signed (XP-INTEGRITY-003).
func isExport(data []byte) bool {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if len(bytes.TrimSpace(rest)) == 0 {
		return false
	}
	members, err := Members(first)
	return err == nil && slices.ContainsFunc(members, func(m jcs.Member) bool { return m.Name == "_meta" })
}

// checkCoverage refuses an unknown status (XP-COVERAGE-010) and a status that says more than its members do (XP-COVERAGE-001). Absent members are not true.
func checkCoverage(top object) error {
	coverage := top.object("coverage")
	status := coverage.str("status")
	switch status {
	case "resolved", "partial", "needs_context", "not_covered":
	default:
		return unsupported("XP-COVERAGE-010", "coverage.status is none of resolved, partial, needs_context and not_covered; the answer is not shown")
	}
	open := 0
	if unresolved := coverage.get("unresolved"); unresolved != nil {
		elements, ok := unresolved.array()
		if !ok {
			return malformed("coverage.unresolved is no array")
		}
		open = len(elements)
	}
	full := coverage.get("covered").is("true") && coverage.get("answers_request").is("true") && open == 0
	if (status == "resolved") != full {
		return &FormatError{Code: CodeCoverage, Rule: "XP-COVERAGE-001",
			Message: "coverage.status is resolved exactly when covered and answers_request are true and nothing is unresolved; this answer breaks that and is not shown"}
	}
	return nil
}

// digestText is the digest as an attestation writes it.
func (d *document) digestText() string { return jwk.EncodeBase64URL(d.digest[:]) }
