//go:build unix

package pgwire

import (
	"net"
	"syscall"

	"fiveways.dev/fiveways/internal/protocol"
)

// isGone reports whether the client has closed the connection, without reading from it. It returns
// false if it cannot tell, for example because unread data precedes the end.
func isGone(nc net.Conn) (gone bool) {
	sc, ok := protocol.Socket(nc).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { // not Read, which would wait for a read in progress
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return gone && err == nil
}
