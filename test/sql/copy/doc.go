// Package copy compares COPY with a real PostgreSQL: output, input, and every error with its
// context. Answers of PostgreSQL 15 are recorded in testdata/copy.txt; -rewrite records them anew.
package copy
