// Package access asks every protocol for the same things as users with different
// permissions, in one table: whatever the protocol, the same user may do the same,
// and hears no in that protocol's words.
package access
