// Package authn checks logins: passwords, and their proofs in SCRAM-SHA-256.
//
// It owns a key that lives as long as the process, and limits how many slow hashes are computed at
// once. Users and their secrets belong to the catalog.
//
// # Invariants
//
//   - Every refusal of a password takes as long as computing the slow hash, so that the time does
//     not tell which users exist.
//   - A successful login computes the slow hash of a user only once per process and password.
package authn
