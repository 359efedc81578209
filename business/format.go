package business

// FormatError says that a document is none this reader understands (XP-VERSION-001, XP-COVERAGE-010). Rule is the XP rule or "".
type FormatError struct {
	Code    string // unsupported_format | malformed | coverage_invariant
	Rule    string
	Message string
}

func (e *FormatError) Error() string { return e.Message }

// The kinds of documents.
const (
	KindManifest    = "manifest"
	KindEnvelope    = "envelope"
	KindRevocations = "revocations"
	KindUnknown     = "unknown" // a document of this protocol that nobody signs, such as registry.json or a line of the export
)

// The codes of FormatError.
const (
	CodeUnsupported = "unsupported_format"
	CodeMalformed   = "malformed"
	CodeCoverage    = "coverage_invariant"
)
