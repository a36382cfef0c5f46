//go:build !unix

package pgwire

import "net"

// isGone cannot detect a closed connection on this platform.
func isGone(net.Conn) bool { return false }
