// Package glob matches names with Redis patterns: * any bytes, ? any byte, [a-z] one of these
// bytes, [^a-z] any other byte, \ before a literal byte.
package glob
