// Package glob matches names with Redis' patterns: * any bytes, ? any byte, [a-z] one byte of
// these, [^a-z] one byte that is not one of these, \ before a literal byte.
package glob
