// Package pgwire serves the PostgreSQL protocol, version 3.0: start-up, authentication, simple and extended queries. The statements
// themselves are internal/protocol/pgwire/sql, what they work on is internal/protocol/pgwire/mbus.
package pgwire
