// Package builtin collects the built-in functions and operators.
//
// Each subject is a subpackage with a Table of implementations by the names of PostgreSQL's C
// functions; their arguments, results and volatility are in the catalog of package expr. This
// package combines the tables into one Library, which is passed to a Compiler. Nothing registers
// itself.
//
// Invariants: table names are unique (expr.NewLibrary panics otherwise), every name is a function
// of PostgreSQL (TestImplementations), and the evaluator imports neither this package nor its
// subpackages.
package builtin
