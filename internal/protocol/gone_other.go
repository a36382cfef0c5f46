//go:build !unix

package protocol

import (
	"errors"
	"net"
)

// Gone cannot detect a closed connection on this platform.
func Gone(net.Conn) bool { return false }

// awaitGone cannot detect a closed connection on this platform.
func awaitGone(net.Conn) error { return errors.ErrUnsupported }
