// Package invariants reports whether costly self-checks are compiled in.
//
// Code guards a check with `if invariants.Enabled { s.check() }`. Enabled is a constant: release
// builds drop the branch, and builds with the tag `invariants` (go test -tags invariants) run it.
package invariants
