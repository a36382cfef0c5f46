// Package access decides what a user may do, as pure functions: the patterns of permissions, the
// templates of topic permissions, and password hashes. The engine keeps the users and calls these
// functions where they apply.
package access
