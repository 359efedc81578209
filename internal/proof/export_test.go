package proof

// For tests that compare with another implementation.
var (
	Texts     = texts
	HashTexts = hashTexts
	Judge     = judge
)
