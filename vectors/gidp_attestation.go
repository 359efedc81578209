package vectors

import "sayso/jcs"

// GIDPAttestation is one line of data/gidp-attestations.jsonl.
type GIDPAttestation struct {
	Name        string  `json:"name"`
	Class       string  `json:"class"`
	Attestation string  `json:"attestation"`
	Issuer      jcs.Raw `json:"issuer"`
	Session     string  `json:"session"`
	Provider    string  `json:"provider"`
	Key         string  `json:"key"`
	Peer        string  `json:"peer"`
	At          string  `json:"at"`
}

// GIDPAttestations returns the vectors of attestations about the agents of GIDP.
func GIDPAttestations() []GIDPAttestation { return load[GIDPAttestation]("gidp-attestations") }
