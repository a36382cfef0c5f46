// Package selector decides by a condition over its properties and headers whether somebody wants a
// message. Conditions are those of SQL-92 as JMS 2.0 (section 3.8) took them over:
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
// The logic has three values. What a message does not have is NULL; a comparison with NULL, or of
// values that cannot be compared (text with a number), is unknown; so are a division by zero and a
// result that does not fit. NOT unknown is unknown, and a message matches only what is true.
//
// A [Selector] is compiled once and may be used by any number of goroutines; matching allocates
// nothing and works on the bytes of the message as they are. The package is pure: no I/O, no clock,
// no goroutines.
//
// Selectors are kept in durable definitions as text, so what once compiled must compile for ever:
// the grammar may grow, not shrink.
package selector
