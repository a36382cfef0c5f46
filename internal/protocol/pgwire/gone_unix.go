//go:build unix

package pgwire

import (
	"net"
	"syscall"

	"fiveways.dev/fiveways/internal/protocol"
)

// isGone reports whether the client has closed the connection, without reading from it. It returns
// false if it cannot tell.
func isGone(nc net.Conn) (gone bool) {
	sc, ok := socketOf(nc).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { gone = isClosed(int(fd)) }) // not Read, which would wait for a read in progress
	return gone && err == nil
}

// socketOf returns the socket of a connection, also of one that another node passes on.
func socketOf(nc net.Conn) net.Conn {
	for {
		nc = protocol.Socket(nc)
		over, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = over.NetConn()
	}
}
