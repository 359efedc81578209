package facts

// Levenshtein opens the bounded distance to the tests.
var Levenshtein = levenshtein
