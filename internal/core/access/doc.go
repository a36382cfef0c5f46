// Package access decides what a user may do, with pure functions: permission patterns, templates of
// topic permissions, and password hashes. The engine keeps the users and calls these functions.
package access
