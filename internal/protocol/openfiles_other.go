//go:build !unix

package protocol

// openFiles returns how many files and connections this process may have open. Where the system
// tells no limit, it is what the default of pendingConns needs.
func openFiles() int { return pendingShare * maxPending }
