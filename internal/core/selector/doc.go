// Package selector evaluates conditions on the properties and headers of a message, with which a
// consumer or a binding selects messages. The language is the subset of SQL-92 in JMS 2.0 (section
// 3.8):
//
//	condition  = and { OR and }
//	and        = not { AND not }
//	not        = { NOT } predicate
//	predicate  = sum [ compare sum | IS [NOT] NULL | [NOT] ( BETWEEN sum AND sum | IN list | LIKE string [ESCAPE string] ) ]
//	compare    = "=" | "<>" | "!=" | "<" | ">" | "<=" | ">="
//	list       = "(" string { "," string } ")" | "(" number { "," number } ")"
//	sum        = product { ( "+" | "-" ) product }
//	product    = sign { ( "*" | "/" ) sign }
//	sign       = { "+" | "-" } primary
//	primary    = string | number | TRUE | FALSE | name | EXISTS "(" name ")" | "(" condition ")"
//	name       = word | '"' header '"' | "headers." ( word | '"' header '"' ) | "properties." property
//
// The logic is three-valued. A property or header that the message lacks is NULL. A comparison with
// NULL, or of values that cannot be compared (text with a number), is unknown, and so are a
// division by zero and a result out of range. NOT unknown is unknown. A message matches only if the
// condition is true.
//
// A [Selector] is compiled once and may be used by any number of goroutines; matching allocates
// nothing and works directly on the bytes of the message. The package is pure: no I/O, no clock, no
// goroutines.
//
// Durable definitions keep selectors as text, so a text that compiles now must always compile: the
// grammar may grow, but not shrink.
package selector
