//go:build !unix

package protocol

import "net"

// firstByte waits for the first byte of a connection, and returns a connection on which it is
// unread.
func firstByte(nc net.Conn) (byte, net.Conn, error) { return readFirst(nc) }
