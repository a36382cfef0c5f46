// Package glob matches names with Redis' patterns: * any bytes, ? any byte, [a-z] one of these,
// [^a-z] none of these, \ before a literal byte.
package glob
