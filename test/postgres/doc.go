// Package postgres starts real PostgreSQL servers for tests, comparisons and measurements, where
// version 15 or newer is installed.
//
// A server has its own folder, a port of 127.0.0.1 and its own life; nothing of the system's
// clusters is touched. Its databases are UTF-8 with the locale C.UTF-8, connections from this
// machine are trusted, and hstore is installed in each of them. PostgreSQL does not run as root:
// for root the server is another user's process.
package postgres
