package vectors

import (
	"bytes"
	"embed"
	"fmt"

	"sayso/jcs"
)

// FS holds data/*.jsonl.
//
//go:embed data/*.jsonl
var FS embed.FS

// Valid is the class of a vector that must be accepted.
const Valid = "valid"

// Claim is one line of data/claims.jsonl.
type Claim struct {
	Name      string `json:"name"`
	Class     string `json:"class"`
	Claim     string `json:"claim"`
	Canonical string `json:"canonical"`
	Hash      string `json:"hash"`
	Note      string `json:"note"`
}

// Attestation is one line of data/attestations.jsonl.
type Attestation struct {
	Name        string  `json:"name"`
	Class       string  `json:"class"`
	Attestation jcs.Raw `json:"attestation"`
	Canonical   string  `json:"canonical"`
	Payload     string  `json:"payload"`
	Header      string  `json:"header"`
	JWS         string  `json:"jws"`
	JWK         jcs.Raw `json:"jwk"`
	Note        string  `json:"note"`
}

// Signature is one line of data/jws.jsonl.
type Signature struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	JWS     string `json:"jws"`
	Payload string `json:"payload"`
	Kid     string `json:"kid"`
	X       string `json:"x"`
	Note    string `json:"note"`
}

// KeySet is one line of data/keys.jsonl.
type KeySet struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Set   string `json:"set"`
	Note  string `json:"note"`
}

// Number is one line of data/numbers.jsonl.
type Number struct {
	Name  string  `json:"name"`
	Class string  `json:"class"`
	Bits  string  `json:"bits"`
	Text  *string `json:"text"`
}

// Claims returns the vectors of claim hashes.
func Claims() []Claim { return load[Claim]("claims") }

// Attestations returns the vectors of signed attestations.
func Attestations() []Attestation { return load[Attestation]("attestations") }

// JWS returns the vectors of detached signatures.
func JWS() []Signature { return load[Signature]("jws") }

// Keys returns the vectors of key sets.
func Keys() []KeySet { return load[KeySet]("keys") }

// Numbers returns the vectors of number text.
func Numbers() []Number { return load[Number]("numbers") }

// load reads one embedded file. A file that cannot be read is a fault of the build, so it panics.
func load[T any](name string) []T {
	data, err := FS.ReadFile("data/" + name + ".jsonl")
	if err != nil {
		panic(err)
	}
	var all []T
	for line := range bytes.Lines(data) {
		var v T
		if err := jcs.DecodeKnown(line, &v); err != nil {
			panic(fmt.Errorf("vectors %s, line %d: %w", name, len(all)+1, err))
		}
		all = append(all, v)
	}
	return all
}
