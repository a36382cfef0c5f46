package pgwire

import (
	"encoding/binary"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol"
)

const welcome = "R ok / S server_version=15.0 / S client_encoding=UTF8 / S standard_conforming_strings=on / K / Z I"

func TestStartUp(t *testing.T) {
	n := startNode(t, Options{})
	for name, c := range map[string]struct {
		version    uint32
		parameters []string
		want       string
	}{
		"plain":                {protocol3, []string{"user", "guest", "database", "fiveways"}, welcome},
		"virtual host by name": {protocol3, []string{"user", "guest", "database", "/"}, welcome},
		"newer minor version":  {protocol3 + 2, []string{"user", "guest", "database", "fiveways"}, "v 3.0 [] / " + welcome},
		"protocol options": {protocol3, []string{"user", "guest", "_pq_.x", "1", "database", "fiveways", "_pq_.y", ""},
			"v 3.0 [_pq_.x _pq_.y] / " + welcome},
		"settings": {protocol3, []string{"user", "guest", "database", "fiveways", "application_name", "me", "options", "-c extra_float_digits=2 --work-mem=1"},
			welcome},
		"no replication": {protocol3, []string{"user", "guest", "database", "fiveways", "replication", "false"}, welcome},
		"database of the user": {protocol3, []string{"user", "guest"},
			`R ok / E FATAL 3D000 database "guest" does not exist | A database is a virtual host of that name; "fiveways" is the virtual host "/". / gone`},
		"no user":     {protocol3, []string{"database", "fiveways"}, "E FATAL 28000 no PostgreSQL user name specified in startup packet / gone"},
		"version 2":   {2 << 16, []string{"user", "guest"}, "E FATAL 0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.0 / gone"},
		"replication": {protocol3, []string{"user", "guest", "replication", "database"}, "E FATAL 0A000 replication connections are not supported / gone"},
		"unknown setting": {protocol3, []string{"user", "guest", "database", "fiveways", "nonsense", "1"},
			`R ok / E FATAL 42704 unrecognized configuration parameter "nonsense" / gone`},
		"unknown setting in options": {protocol3, []string{"user", "guest", "database", "fiveways", "options", "-cnonsense=a\\ b"},
			`R ok / E FATAL 42704 unrecognized configuration parameter "nonsense" / gone`},
		"bad options": {protocol3, []string{"user", "guest", "options", "-x"},
			"E FATAL 42601 invalid command-line argument for server process: -x / gone"},
		"option without a value": {protocol3, []string{"user", "guest", "options", "-c a"}, "E FATAL 42601 -c a requires a value / gone"},
		"odd parameters":         {protocol3, []string{"user"}, "E FATAL 08P01 invalid startup packet layout: expected terminator as last byte / gone"},
		"user that is no text":   {protocol3, []string{"user", "\xff"}, `E FATAL 22021 invalid byte sequence for encoding "UTF8": 0xff / gone`},
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			n.dial().start(c.version, c.parameters...).expect(c.want)
		})
	}
}

// TestRequestsBeforeTheStart covers requests sent in place of a start-up packet.
func TestRequestsBeforeTheStart(t *testing.T) {
	n := startNode(t, Options{})
	ask := func(codes ...uint32) *client {
		c := n.dial()
		for _, code := range codes {
			c.write(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, code))
			answer := make([]byte, 1)
			if _, err := c.nc.Read(answer); err != nil || answer[0] != 'N' {
				t.Fatalf("%d: %q, %v", code, answer, err)
			}
		}
		return c
	}
	guest := []string{"user", "guest", "database", "fiveways"}
	ask(askSSL).start(protocol3, guest...).expect(welcome)
	ask(askSSL, askGSS).start(protocol3, guest...).expect(welcome)
	ask(askGSS, askSSL).start(protocol3, guest...).expect(welcome)
	c := ask(askSSL)
	c.write(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, askSSL))
	c.expect("E FATAL 0A000 unsupported frontend protocol 1234.5679: server supports 3.0 to 3.0 / gone")

	for name, packet := range map[string]string{
		"too short":     "\x00\x00\x00\x07\x00\x03\x00",
		"too long":      "\x00\x00\x40\x00\x00\x03\x00\x00",
		"negative":      "\xff\xff\xff\xff\x00\x03\x00\x00",
		"TLS":           "\x16\x03\x01\x00\xa5\x01\x00\x00",
		"HTTP":          "GET / HTTP/1.1\r\n\r\n",
		"short cancel":  "\x00\x00\x00\x0c\x04\xd2\x16\x2e\x00\x00\x00\x01",
		"unknown pid":   "\x00\x00\x00\x10\x04\xd2\x16\x2e\x7f\x00\x00\x01\x00\x00\x00\x00",
		"nothing":       "",
		"half a length": "\x00\x00",
	} {
		c := n.dial()
		c.write([]byte(packet))
		if packet == "" || len(packet) == 2 {
			c.nc.Close()
			continue
		}
		if got := c.next(); got != "gone" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTooManyConnections(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{Connections: protocol.NewLimit(2)}})
	start := func() *client { return n.dial().start(protocol3, "user", "guest", "database", "fiveways") }
	n.login()
	second := n.login()
	start().expect("R ok / E FATAL 53300 sorry, too many clients already / gone")
	second.send(terminate)
	second.expect("gone")
	if err := n.b.SetVHostLimit("/", catalog.LimitConnections, 1); err != nil {
		t.Fatal(err)
	}
	start().expect(`R ok / E FATAL 53300 too many connections for database "fiveways" / gone`)
	if err := n.b.ClearVHostLimit("/", catalog.LimitConnections); err != nil {
		t.Fatal(err)
	}
	if err := n.b.SetUserLimit("guest", catalog.LimitConnections, 1); err != nil {
		t.Fatal(err)
	}
	start().expect(`R ok / E FATAL 53300 too many connections for role "guest" / gone`)
	if err := n.b.ClearUserLimit("guest", catalog.LimitConnections); err != nil {
		t.Fatal(err)
	}
	n.login()
	if err := n.b.DeletePermission("guest", "/"); err != nil {
		t.Fatal(err)
	}
	got := start().until("gone")
	if !strings.Contains(got, "53300 sorry") { // both places are taken
		t.Error(got)
	}
}

func TestNoPermissionInTheVirtualHost(t *testing.T) {
	n := startNode(t, Options{})
	if err := n.b.DeletePermission("guest", "/"); err != nil {
		t.Fatal(err)
	}
	n.dial().start(protocol3, "user", "guest", "database", "fiveways").expect(`R ok / E FATAL 42501 permission denied for database "fiveways"` +
		` | User does not have CONNECT privilege. | A user may enter a virtual host in which it has a permission. / gone`)
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  ": "", "a": "a", " -c  x=1\t-c y=2 ": "-c|x=1|-c|y=2", `a\ b c\\d e\`: `a b|c\d|e\`,
	} {
		if got := strings.Join(words(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
