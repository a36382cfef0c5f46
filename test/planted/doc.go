// Package planted plants bugs in the broker, one at a time, which tests that run real processes
// must find: a test of promises that never fails proves nothing.
//
// A bug is a change of the sources (bugs_test.go) that `go build -overlay` makes in a copy, so the
// product has no code for it. TestBugsFit, part of `make test`, reports when a bug no longer fits
// the sources. TestPlanted, `make planted`, builds a broker with each bug and runs the test that
// must find it.
//
// These are bugs that show in processes. What a kill cannot show, such as a vote that is not saved,
// is planted in the simulation by seed (internal/replica).
package planted
