// Package expressions compares the evaluator of SQL expressions with a real PostgreSQL: random
// expressions are evaluated by both, and value, type and SQLSTATE must be the same. It has no code
// of its own.
package expressions
