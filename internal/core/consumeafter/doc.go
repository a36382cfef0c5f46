// Package consumeafter reads the header consume_after, in which a message lists the message-ids of
// others that must be gone before it may be delivered. The value is an array of ids, a single id as
// a string, or several ids as the text of a PostgreSQL array, the form that the functions of mbus4
// use.
//
// It is pure and owns nothing. A value that is not text names no message. A text that is not an
// array literal is a single id.
package consumeafter
