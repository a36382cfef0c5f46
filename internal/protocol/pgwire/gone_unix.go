//go:build unix

package pgwire

import (
	"net"
	"syscall"

	"fiveways.dev/fiveways/internal/protocol"
)

// isGone reports whether the client has closed the connection, without reading from it; false when
// that cannot be told, also since there is something to read before the end.
func isGone(nc net.Conn) (gone bool) {
	sc, ok := protocol.Socket(nc).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { // not Read: that would wait for a read that goes on
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return gone && err == nil
}
