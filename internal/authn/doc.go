// Package authn checks logins: passwords, and SCRAM-SHA-256 proofs.
//
// It owns a random key that lives as long as the process, and limits how many slow hashes are
// computed concurrently. Users and their password hashes belong to the catalog.
//
// # Invariants
//
//   - Rejecting a password takes as long as computing the slow hash, whether the user exists or
//     not, so response times do not reveal user names.
//   - The slow hash of a user is computed at most once per process for a correct password.
package authn
