//go:build !unix

package protocol

// openFiles is how many files and connections this process may have open, as far as it matters.
func openFiles() int { return pendingShare * maxPending }
