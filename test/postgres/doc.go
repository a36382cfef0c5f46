// Package postgres starts real PostgreSQL servers for tests, comparisons and measurements, if
// version 15 or newer is installed.
//
// A server has its own folder and a port of 127.0.0.1; it does not touch the system's clusters. Its
// databases are UTF-8 with the locale C.UTF-8, connections from this machine are trusted, and
// hstore is installed in each of them. PostgreSQL does not run as root, so for root the server runs
// as another user.
package postgres
