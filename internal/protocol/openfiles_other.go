//go:build !unix

package protocol

// openFiles returns how many files and connections this process may have open. Where the system has
// no such limit, it is large enough for the default of pendingConns.
func openFiles() int { return pendingShare * maxPending }
