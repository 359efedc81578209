// Package lab measures what GIDP's answers tell (§15.4, §24.3), as values: each measurement returns rows, and writes nothing.
//
// What is measured is the production code: a value goes into an interest, the interest's View goes into [gidp.Evaluate], and every answer to every claim is
// compared. Nothing of it is modelled anew.
package lab

// Row is one number that was measured, and whether it is what the profile says or the bound allows.
type Row struct {
	Claim string  `json:"claim"`
	Value float64 `json:"value"`
	OK    bool    `json:"ok"`
}
