// Package sessions tests what happens to other sessions when one session of the SQL protocol
// breaks, does not read, sleeps, or is open when the broker stops.
package sessions
