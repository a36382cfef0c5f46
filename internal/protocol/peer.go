package protocol

import (
	"net"
	"net/netip"
	"strings"
)

// IsLoopback reports whether the client is on this machine. What has no IP address (a pipe, a Unix
// socket) is.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// IsPlainHost reports whether the host that an HTTP request names is an address, or localhost, with
// or without a port. A page in a browser can give its own name the address of this machine; then it
// is that name which its requests show.
func IsPlainHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Clipped shortens a text from a client for the log; clients can send texts of any length.
func Clipped(text string) string {
	const most = 256
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
