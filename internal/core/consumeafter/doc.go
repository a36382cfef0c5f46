// Package consumeafter reads the header consume_after, in which a message lists the message-ids of
// others that must be gone before it may be delivered. The value is an array of ids, one id as a
// string, or several ids as the text of a PostgreSQL array, which is how the functions of mbus4
// write it.
//
// It is pure and owns nothing. A value that is not text names no message; a text that is not an
// array literal is one id.
package consumeafter
