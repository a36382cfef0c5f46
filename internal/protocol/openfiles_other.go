//go:build !unix

package protocol

import "net"

// openFiles returns how many files and connections this process may have open. Where the system has
// no such limit, it is large enough for the default of pendingConns.
func openFiles() int { return pendingShare * maxPending }

// descriptor returns -1: the number of a connection does not tell how many there are.
func descriptor(net.Conn) int { return -1 }
