// Package consumeafter reads the header consume_after, in which a message names others, by their
// message-ids, that must be gone before it may go. Its value is an array of ids, one id as a
// string, or several as the text of a PostgreSQL array, as the functions of mbus4 write it.
//
// It is pure and owns nothing. What is no text names no message; a value that is no array literal
// is one id, whatever is in it.
package consumeafter
