package vectors

import (
	"encoding/hex"
	"fmt"
)

// CanonXP is one line of data/xp-canon.jsonl.
type CanonXP struct {
	Name      string `json:"name"`
	Class     string `json:"class"`
	Text      string `json:"text"`
	Hex       string `json:"hex"`
	Canonical string `json:"canonical"`
	Digest    string `json:"digest"`
	Note      string `json:"note"`
}

// Input returns the bytes of the text, which are not always UTF-8.
func (v CanonXP) Input() []byte {
	if v.Hex == "" {
		return []byte(v.Text)
	}
	data, err := hex.DecodeString(v.Hex)
	if err != nil {
		panic(fmt.Errorf("vectors xp-canon, %s: %w", v.Name, err))
	}
	return data
}

// CanonsXP returns the vectors of the canonical form of X-Protocols.
func CanonsXP() []CanonXP { return load[CanonXP]("xp-canon") }
