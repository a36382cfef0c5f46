// Package pattern matches names with regular expressions as users of RabbitMQ write them.
//
// A pattern is first compiled as RE2, which takes time linear in the length of the name. A pattern
// that RE2 does not support, such as the lookahead in ^(?!amq\.), is left to a backtracking
// matcher. A malicious pattern could take very long there: it is stopped after seconds, and from
// then on it matches nothing. So a pattern must never be used to deny access, only to grant access
// or to select.
package pattern
