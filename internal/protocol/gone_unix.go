//go:build unix

package protocol

import (
	"errors"
	"net"
	"syscall"
)

// Gone reports whether the client has closed the connection, without reading from it. It returns
// false if it cannot tell.
func Gone(nc net.Conn) (gone bool) {
	raw := rawOf(nc)
	if raw == nil {
		return false
	}
	err := raw.Control(func(fd uintptr) { gone = peerClosed(int(fd)) }) // not Read, which would wait for a read in progress
	return gone && err == nil
}

// awaitGone waits until the client has closed the connection, without reading from it. Errors:
// errors.ErrUnsupported if it cannot tell, os.ErrDeadlineExceeded, and those of the socket.
func awaitGone(nc net.Conn) error {
	raw := rawOf(nc)
	if raw == nil {
		return errors.ErrUnsupported
	}
	return raw.Read(func(fd uintptr) bool { return peerClosed(int(fd)) })
}

// rawOf returns the socket of a connection, also of one that another node passes on, or nil.
func rawOf(nc net.Conn) syscall.RawConn {
	for {
		nc = Socket(nc)
		over, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		nc = over.NetConn()
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
