package resp

import (
	"strings"
	"testing"

	"fiveways/internal/broker"
)

func TestPing(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.wants("PING", "+PONG")
	c.wants("ping x", `"x"`)
	c.wants("PING x y", "-ERR wrong number of arguments for 'ping' command")
	c.wants("echo hello", `"hello"`)
	c.wants("echo", "-ERR wrong number of arguments for 'echo' command")
	c.send("PING\r\n\r\n  \r\necho \"a\\x41\\n\"\r\n*0\r\nPING\r\n")
	for _, want := range []string{"+PONG", `"aA\n"`, "+PONG"} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.wants("nonsense a b", "-ERR unknown command 'nonsense', with args beginning with: 'a' 'b' ")
	c.wants("QUIT", "+OK")
	c.ends()
}

func TestLogin(t *testing.T) {
	n := startNode(t, Options{})
	n.user("me", "secret")
	if _, err := n.b.PutUser(broker.UserSpec{Name: "nobody", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	c := n.dial()
	c.wants("AUTH me wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	c.wants("AUTH you secret", "-WRONGPASS invalid username-password pair or user is disabled.")
	c.wants("AUTH nobody secret", "-NOPERM this user has no permissions in the virtual host '/'")
	c.wants("AUTH me secret", "+OK")
	c.wants("AUTH guest", "+OK") // the user "default", as Redis calls it, is guest
	c.wants("AUTH a b c", "-ERR syntax error")
	c.wants("HELLO 4", "-NOPROTO unsupported protocol version")
	c.wants("HELLO x", "-ERR Protocol version is not an integer or out of range")
	c.wants("HELLO 3 AUTH me", "-ERR Syntax error in HELLO option 'AUTH'")
	c.wants("HELLO 3 AUTH me wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	if got := c.do("HELLO", "3", "AUTH", "me", "secret", "SETNAME", "x"); !strings.HasPrefix(got, `{"server" "redis" "version" "7.0.15" "proto" 3 "id"`) {
		t.Error(got)
	}
	if got := c.do("HELLO"); !strings.Contains(got, `"proto" 3 `) {
		t.Error(got)
	}
}

// TestLoginNeeded: when guest's password is its own, nobody gets in without one.
func TestLoginNeeded(t *testing.T) {
	n := startNode(t, Options{})
	if err := n.b.SetPassword("guest", "other"); err != nil {
		t.Fatal(err)
	}
	c := n.dial()
	c.wants("PING", "-NOAUTH Authentication required.")
	c.wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
	c.wants("ECHO", "-ERR wrong number of arguments for 'echo' command")
	if got := c.do("HELLO", "3"); !strings.HasPrefix(got, "-NOAUTH HELLO must be called with") {
		t.Error(got)
	}
	c.wants("AUTH other", "+OK")
	c.wants("PING", "+PONG")

	c = n.dial()
	c.send("*11\r\n")
	if got := c.reply(); got != "-ERR Protocol error: unauthenticated multibulk length" {
		t.Error(got)
	}
	c.ends()
	c = n.dial()
	c.send("*1\r\n$16385\r\n")
	if got := c.reply(); got != "-ERR Protocol error: unauthenticated bulk length" {
		t.Error(got)
	}
	c.ends()
}

func TestSelect(t *testing.T) {
	n := startNode(t, Options{})
	if _, err := n.b.PutVHost(broker.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.SetPermission(broker.Permission{User: "guest", VHost: "shop", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	c := n.dial()
	c.wants("SELECT 0", "+OK")
	c.wants("SELECT 1", "-ERR DB index is out of range")
	c.wants("SELECT shop", "+OK")
	c.wants("SELECT nowhere", "-ERR no such virtual host 'nowhere'")
	c.wants("SELECT 0", "+OK")
}
