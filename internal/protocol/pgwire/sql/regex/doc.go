// Package regex implements PostgreSQL's advanced regular expressions, with its flags and its rules
// of which match is chosen.
//
// A pattern is parsed into a tree (parse.go, escape.go, bracket.go). Go's regexp is used for
// patterns that it matches like PostgreSQL (golang.go). Patterns with word boundaries, look-ahead,
// look-behind, back references, groups or non-greedy quantifiers are matched here: reach.go follows
// sets of positions in the text through the tree, in time that depends on the length of the text
// and not on the number of ways to match it; dissect.go then splits the match into its groups, as
// PostgreSQL does. A match that takes too many steps ends with an error.
package regex
