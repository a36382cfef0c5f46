package protocol

import (
	"net"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestIsLoopback(t *testing.T) {
	for addr, want := range map[net.Addr]bool{
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}: true, &net.TCPAddr{IP: net.IPv6loopback}: true, &net.UnixAddr{Name: "x"}: true,
		&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}: false, &net.TCPAddr{IP: net.ParseIP("::ffff:10.0.0.1")}: false,
	} {
		if got := IsLoopback(addr); got != want {
			t.Errorf("%v: %v", addr, got)
		}
	}
}

func TestIsPlainHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:15672": true, "[::1]:15672": true, "[::1]": true, "localhost": true, "localhost:1": true, "a.localhost:1": true,
		"example.org": false, "example.org:15672": false, "127.0.0.1.example.org": false, "": false, "notlocalhost": false,
	} {
		if got := IsPlainHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestClipped(t *testing.T) {
	if got := Clipped("guest"); got != "guest" {
		t.Errorf("%q", got)
	}
	if got := Clipped(strings.Repeat("é", 300) + "x"); len(got) > 260 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
