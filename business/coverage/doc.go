// Package coverage is the form of an answer about one publisher: how far it goes, what is missing, and the signed envelope around it (X§5, X§6). It says
// nothing about how an answer is found; package answer does that. A reader of envelopes imports this package alone.
//
// # The status
//
//	resolved       the whole request is answered                                         covered, answers_request
//	partial        something is answered, and unresolved names what is not               covered
//	needs_context  one value of the caller's would settle it; what was found is withheld
//	not_covered    nothing asked is published; that says nothing about the business
//
// A [Coverage] is made from [Evidence], which has no place for a gap. [Evidence.Resolved] therefore cannot stand beside one, and each of the other three
// takes at least one (XP-COVERAGE-001 as a type). NeedsContext and NotCovered drop every value and every verdict from which one follows (XP-COVERAGE-002).
// [Evidence.Finish] chooses for a call that has no text. The reasons of a [Gap] and the verdicts of a [Proposition] are the closed lists of constants below.
//
// # Asking back
//
// [Clarification] names one missing dimension and how to ask again (XP-COVERAGE-003): Resume has the arguments as received, literals untouched; the next call
// is Arguments with [AddTo][name] set to the value of an option. RemainingUnbound counts what is open, so each step leaves less.
//
// # The envelope
//
// [Envelope] is what is signed and [Frame.Seal] is the only way to sign it. Seal refuses an [Outcome] that contradicts its own status or speaks of another
// publisher: what was signed cannot be called back. A fault of the caller's is a [*CallError]; any other error means that there is no answer, and is never a
// status (XP-COVERAGE-009).
//
// The package is pure: the moment of a call is [Call].Now.
package coverage
