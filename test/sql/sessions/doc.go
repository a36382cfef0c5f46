// Package sessions tries what happens to the others when a session of the SQL protocol ends badly,
// does not read, sleeps, or is open when the broker stops.
package sessions
