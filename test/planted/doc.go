// Package planted has bugs planted in the broker, one at a time, and tests that run real processes
// must find each: a test of promises that never fails shows nothing.
//
// A bug is a change of the sources (bugs_test.go), which `go build -overlay` makes in a copy: the
// product has no code for it. TestBugsFit, part of `make test`, says when a bug no longer fits the
// sources. TestPlanted, `make planted`, builds a broker with each bug and runs the test that is to
// find it.
//
// Here are bugs that show in processes. What a kill cannot show, such as a vote that is not saved,
// is planted in the simulation by seed (internal/replica).
package planted
