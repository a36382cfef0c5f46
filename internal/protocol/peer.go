package protocol

import (
	"net"
	"net/netip"
	"strings"
)

// IsLoopback reports whether the client is on this machine, as is every address that is not an IP
// address (a pipe, a Unix socket).
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// IsPlainHost reports whether the host that an HTTP request names is an address or localhost, with
// or without a port. A foreign page can make its own host name resolve to this machine; its
// requests then show that name.
func IsPlainHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Clipped shortens a text from a client, which may be of any length, for the log.
func Clipped(text string) string {
	const most = 256
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
