//go:build !unix

package pgwire

import "net"

// isGone cannot tell here.
func isGone(net.Conn) bool { return false }
