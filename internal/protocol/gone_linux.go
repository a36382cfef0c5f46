package protocol

import "golang.org/x/sys/unix"

// peerClosed reports whether the peer of a socket has closed its side. Data may be unread: most
// clients send Terminate before they close.
func peerClosed(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	return err == nil && n > 0
}
