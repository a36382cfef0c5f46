// Package expr compiles and evaluates SQL expressions. An expression is compiled from the parser's
// tree into typed nodes, and then evaluated any number of times. Compiling resolves types,
// functions and operators, and converts and folds constants, by PostgreSQL's rules.
//
// It owns the nodes, the rules of types and overloads, and the catalog of PostgreSQL's functions,
// operators and casts (pgdata). The implementations of built-in functions are passed in as a
// Library, which package builtin makes from its tables; only the comparisons, which the rules of
// types decide, are here.
//
// Invariants:
//
//   - An expression is not changed by evaluating it, and a Library is never changed once made.
//   - A function is called with arguments of the types that the catalog names, and keeps nothing of
//     the slice of arguments.
package expr
