// Package expr is SQL expressions: compiled from the parser's tree into nodes with a type each,
// then evaluated any number of times. Types are found, functions and operators chosen, and
// constants converted and folded when compiling, by PostgreSQL's rules.
//
// It owns the nodes, the rules of types and overloads, and the catalog of PostgreSQL's functions,
// operators and casts (pgdata). What is behind the built-in functions it is given as a Library,
// made of tables (package builtin makes it); only the comparisons, which the rules of types decide,
// are here.
//
// Invariants: an expression is not changed by evaluating it; a Library is never changed once made;
// no function is called before its arguments have the types that the catalog names, and a function
// keeps nothing of the slice that its arguments come in.
package expr
