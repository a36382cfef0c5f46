// Package pattern matches names with regular expressions as users of RabbitMQ write them.
//
// A pattern is compiled as RE2 first, which takes time linear in the length of the name. One that
// RE2 does not support, such as the look-ahead of ^(?!amq\.), is left to a backtracking matcher. A
// malicious pattern may take very long there: it is stopped after seconds, and from then on the
// pattern matches nothing. So a pattern must never be used to deny access: it grants access, or it
// selects.
package pattern
