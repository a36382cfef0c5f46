// Package builtin collects the built-in functions and operators.
//
// Each subject is a package below it with a Table of implementations by the names of PostgreSQL's
// own C functions; their arguments, results and volatility are in the catalog of expr. This package
// puts the tables together into the one Library, which a Compiler is given; nothing registers
// itself.
//
// Invariants: no two tables have the same name (expr.NewLibrary panics), every name is a function
// of PostgreSQL (TestImplementations), and the evaluator does not import this package or those
// below it.
package builtin
