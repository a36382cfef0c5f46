// Package sql loads the queues of mbus4 over the PostgreSQL protocol: those of a broker, or those
// of a real PostgreSQL with the native schema. Each client is one connection that waits for each
// answer, with prepared statements, as an application does.
package sql
