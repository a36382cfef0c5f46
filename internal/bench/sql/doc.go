// Package sql benchmarks queues of mbus4 over the PostgreSQL protocol, on a broker or on a real
// PostgreSQL with the native schema. Each client is one connection that waits for each answer and
// uses prepared statements, like an application.
package sql
