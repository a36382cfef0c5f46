// Package access makes the same requests over every protocol as users with different permissions,
// in one table: a user may do the same over all protocols, and each protocol denies the rest with
// its own error.
package access
