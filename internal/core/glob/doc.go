// Package glob matches names with the patterns of Redis: * any bytes, ? any byte, [a-z] one of these, [^a-z] none of these, \ before a byte that means
// itself.
package glob
