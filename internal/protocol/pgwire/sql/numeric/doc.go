// Package numeric implements PostgreSQL's type numeric: decimals of up to 131,072 digits before the
// decimal point and 16,383 after it, NaN and the infinities.
//
// PostgreSQL has a rule for the number of digits after the decimal point of every result: 1 / 3 has
// 20, sqrt(2) has 15. The results here have the same digits, and the errors have PostgreSQL's
// SQLSTATEs and texts. The binary format is that of the protocol, in base-10,000 digits.
//
// Invariant: a Number never changes, so that it can be shared.
package numeric
