// Package regex is PostgreSQL's regular expressions: the advanced ones, with its rules of which
// match is taken, and its flags.
//
// A pattern is parsed into a tree (parse.go, escape.go, bracket.go). Go's regexp finds what it can
// find as PostgreSQL does (golang.go). The rest, that is borders of words, looking ahead and
// behind, back references, groups and quantifiers that take little, is matched here: reach.go
// follows sets of places of the text through the tree, in a time that grows with the text and not
// with what it could be read as; dissect.go then cuts the match into its groups, as PostgreSQL
// does. What takes too many steps is given up with an error.
package regex
