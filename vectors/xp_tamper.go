package vectors

// Tamper is one line of data/xp-tamper.jsonl: a document, what a reader holds beside it, and what the reader must find.
type Tamper struct {
	Name     string  `json:"name"`
	Class    string  `json:"class"`
	Note     string  `json:"note"`
	Document string  `json:"document"`
	Root     *string `json:"root"` // base64url of the pinned root's public key, null when nothing is pinned
	// Names of lines of data/xp-tamper-evidence.jsonl, "" for what was not looked for.
	RegistryKeys  string      `json:"registry_keys"`
	PublisherKeys string      `json:"publisher_keys"`
	Revocations   string      `json:"revocations"`
	PublisherList string      `json:"publisher_list"`
	Publisher     string      `json:"publisher"` // slug the reader asked for, "" for none
	Call          *TamperCall `json:"call"`      // null: the document answers no call
	At            string      `json:"at"`
	Want          TamperWant  `json:"want"`
}

// TamperCall is the call that was sent. Arguments is its text, "" when there were none.
type TamperCall struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// TamperWant is what a reader finds: either an error, or the kind of the document and seven findings.
type TamperWant struct {
	Error      *TamperError   `json:"error,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	Signature  *TamperFinding `json:"signature,omitempty"`
	Identity   *TamperFinding `json:"identity,omitempty"`
	Authority  *TamperFinding `json:"authority,omitempty"`
	Revocation *TamperFinding `json:"revocation,omitempty"`
	Call       *TamperFinding `json:"call,omitempty"`
	Mirror     *TamperFinding `json:"mirror,omitempty"`
	Usable     *TamperFinding `json:"usable,omitempty"`
}

// TamperError is the refusal of a text that is no document of the protocol.
type TamperError struct {
	Code string `json:"code"`
	Rule string `json:"rule,omitempty"`
}

// TamperFinding is one finding. Value is fixed by the protocol; Reason is the code of this implementation.
type TamperFinding struct {
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
	Count  int    `json:"count,omitempty"`
}

// TamperEvidence is one line of data/xp-tamper-evidence.jsonl: a document a reader obtained, or why it could not.
type TamperEvidence struct {
	Name     string `json:"name"`
	Class    string `json:"class"` // registry-keys | publisher-keys | revocations | none
	Document string `json:"document"`
	Error    string `json:"error"` // "", unavailable or net_refused
}

// TampersXP returns the vectors of tampered X-Protocols documents.
func TampersXP() []Tamper { return load[Tamper]("xp-tamper") }

// TamperEvidenceXP returns the evidence the vectors of [TampersXP] name, by name.
func TamperEvidenceXP() map[string]TamperEvidence {
	all := map[string]TamperEvidence{}
	for _, e := range load[TamperEvidence]("xp-tamper-evidence") {
		all[e.Name] = e
	}
	return all
}
