// Package pattern matches names with regular expressions as users of RabbitMQ write them.
//
// A pattern is read as RE2 first, which takes time linear in the length of the name. One that RE2 does not know, such as the look-ahead of ^(?!amq\.), is left
// to a matcher that goes back over its tracks. That one may take very long for a pattern made to do so: it is stopped after seconds, and from then on the pattern
// matches nothing. So a pattern must never be what keeps somebody out: it lets in, or it chooses.
package pattern
