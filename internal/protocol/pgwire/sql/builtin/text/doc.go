// Package text implements the functions of texts and of bytes: substrings, padding and case, LIKE,
// SIMILAR TO and regular expressions, quoting, format, encodings and hashes.
//
// It defines the maximum length of a text (MaxText). Positions count characters from 1. Texts are
// valid UTF-8 on input and output.
package text
