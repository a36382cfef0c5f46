// Package expr compiles and evaluates SQL expressions. An expression is compiled from the parser's
// tree into typed nodes, and can then be evaluated any number of times. Compilation resolves types,
// functions and operators, and converts and folds constants, by PostgreSQL's rules.
//
// It contains the nodes, the rules of types and overloads, and the catalog of PostgreSQL's
// functions, operators and casts (pgdata). The implementations of built-in functions are passed in
// as a Library, which package builtin creates from its tables. Only comparisons, which follow from
// the rules of types, are implemented here.
//
// Invariants:
//
//   - Evaluation does not change an expression, and a Library is immutable.
//   - A function receives arguments of the types that the catalog declares, and does
//     not keep the argument slice.
package expr
