// Package answertest asks package answer questions whose answers are known by construction, and judges what comes back. It is for tests only.
//
// A [World] is one sample publisher; Planted gives a copy in which every published value can be found again in the bytes of an outcome. A [Question] is made
// of pieces of that publisher by a generator or a mutation, and its [Want] says what the oracle knows about the answer. [Judge] compares.
//
//	G1  each title and alias                                        resolved, positive
//	G2  titles of other publishers with a word this one has not     never resolved
//	    parts of own titles that no two records share               never resolved
//	G3  record x price, duration                                    resolved with that value, else never
//	G4  record x comparison around its bounds, with other units     trying out points of the published interval
//	G5  each term of each list, the list closed and open            in the list, not in it, not stated
//	G6  booleans of the business; of records with and without       the published boolean
//	G7  place x weekday x clock time; record x place x stock        the minutes of the opening week
//	G8  two pieces of different shapes joined by a preposition,     never resolved
//	    also in front, behind a mark of punctuation, or by others
//	G9  service x store; market x weekday                           what is stated; a name of several places never names the first
//	G10 two questions joined                                        resolved exactly when both are
//	G11 questions about things no publisher of the samples has      never resolved, nothing stated
//	G12 frames that ask something else about a known thing; small   never resolved, or the polarity that the small word makes
//	    words that turn a time, an amount or a negation around
//
//	M1  the subject becomes something absent         M5  the field becomes one not published    M9   another currency
//	M2  the number moves across the bound            M6  the attribute is negated               M10  the alias is dropped from the data
//	M3  a modifier before the head                   M7  only, always, still, …                 M11  a superlative
//	M4  a piece of another shape is attached         M8  an uncovered clause follows            M12  a quantity of pieces
//
// What the oracle cannot know it does not judge: seasonal hours, names that are inflections of other names, the polarity of a negated verb, a place whose
// name is part of the publisher's own, whether a name of several places may be answered when all of them agree, and what "will you have" promises. Such questions are asked all the same,
// and held to what is true of every outcome ([Flaws]).
package answertest
