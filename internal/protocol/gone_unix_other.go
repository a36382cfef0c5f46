//go:build unix && !linux

package protocol

import "syscall"

// peerClosed reports whether the peer of a socket has closed its side. It returns false while there
// is unread data.
func peerClosed(fd int) bool {
	var b [1]byte
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return n == 0 && err == nil || err == syscall.ECONNRESET
}
