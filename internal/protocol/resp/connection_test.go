package resp

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

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

// TestFailedLogin: a client whose login failed is nobody, not guest; one that is logged in stays so.
func TestFailedLogin(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "r", ".*")
	const wrong, needed = "-WRONGPASS invalid username-password pair or user is disabled.", "-NOAUTH Authentication required."
	if _, err := n.b.PutUser(broker.UserSpec{Name: "nobody", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	for login, want := range map[string]string{
		"AUTH me wrong": wrong, "AUTH wrong": wrong, "HELLO 3 AUTH me wrong": wrong,
		"AUTH nobody secret": "-NOPERM this user has no permissions in the virtual host '/'",
	} {
		for _, before := range []string{"", "LLEN q", "SUBSCRIBE a"} { // nothing, or what makes it guest
			c := n.dial()
			if before != "" {
				c.do(strings.Fields(before)...)
			}
			if before == "SUBSCRIBE a" {
				c.wants("UNSUBSCRIBE", `["unsubscribe" "a" 0]`)
			}
			c.wants(login, want)
			c.wants("LLEN q", needed)
			c.wants("SELECT 0", needed)
			if got := c.do("HELLO", "3"); !strings.HasPrefix(got, "-NOAUTH HELLO must be called with") {
				t.Error(got)
			}
			c.wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
			c.wants("AUTH me secret", "+OK")
			c.wants("LLEN q", "0")
			c.wants("AUTH me wrong", wrong) // as in Redis it is who it was
			c.wants("LLEN q", "0")
			c.wants("RESET", "+RESET")
			c.wants("LLEN q", "0")
		}
	}
	c := n.dial()
	c.wants("MULTI", "+OK")
	c.wants("AUTH me wrong", "+QUEUED")
	c.wants("LLEN q", "+QUEUED")
	c.wants("PUBSUB NUMPAT", "+QUEUED")
	c.wants("EXEC", "["+wrong+" 0 0]")
	c.wants("LLEN q", needed)
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

// TestLoginTimeout: who has to log in has a time for it, after RESET too.
func TestLoginTimeout(t *testing.T) {
	n := startNode(t, Options{LoginTimeout: 50 * time.Millisecond})
	n.cheapUser("me")
	n.permit("me", "z", ".*")
	if err := n.b.SetPassword("guest", "other"); err != nil {
		t.Fatal(err)
	}
	n.dial().ends()
	c := n.dial()
	c.wants("AUTH me secret", "+OK")
	c.wants("RESET", "+RESET")
	c.ends()

	c = n.dial()
	c.wants("RESET", "+RESET")
	c.wants("AUTH me secret", "+OK")
	c.nc.SetReadDeadline(time.Now().Add(150 * time.Millisecond)) //nolint:errcheck // reading tells
	if _, err := c.read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("who has logged in is cut off: %v", err)
	}
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

func TestClient(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.dial(), n.dial()
	c.wants("CLIENT", "-ERR wrong number of arguments for 'client' command")
	c.wants("CLIENT nonsense", "-ERR unknown subcommand 'nonsense'. Try CLIENT HELP.")
	c.wants("client setname", "-ERR wrong number of arguments for 'client|setname' command")
	c.wants("CLIENT GETNAME", "nil")
	c.wants("CLIENT SETNAME me", "+OK")
	c.wants("CLIENT GETNAME", `"me"`)
	if got := c.do("CLIENT", "SETNAME", "a b"); got != "-ERR Client names cannot contain spaces, newlines or special characters." {
		t.Error(got)
	}
	c.wants("CLIENT SETINFO lib-name x", "+OK")
	c.wants("CLIENT NO-EVICT on", "+OK")
	id := other.do("CLIENT", "ID")
	if got := c.do("CLIENT", "LIST"); strings.Count(got, `\n`) != 2 || !strings.Contains(got, "id="+id+" addr=") || !strings.Contains(got, " name=me ") ||
		!strings.Contains(got, "cmd=client|list user=guest") {
		t.Error(got)
	}
	if got := c.do("CLIENT", "LIST", "ID", id); strings.Count(got, `\n`) != 1 {
		t.Error(got)
	}
	c.wants("CLIENT KILL ID "+id, "1")
	other.ends()
	c.wants("CLIENT KILL ID "+id, "0")
	c.wants("CLIENT KILL 1.2.3.4:5", "-ERR No such client")
	c.send(encode("CLIENT", "REPLY", "SKIP") + encode("CLIENT", "REPLY", "SKIP") + encode("PING") + encode("ECHO", "1") + encode("CLIENT", "REPLY", "OFF") + encode("PING") +
		encode("ECHO", "2") + encode("CLIENT", "REPLY", "ON") + encode("ECHO", "3"))
	for _, want := range []string{`"1"`, "+OK", `"3"`} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestClientOfOthers: who is no administrator neither sees nor ends the connections of others.
func TestClientOfOthers(t *testing.T) {
	n := startNode(t, Options{})
	n.user("me", "secret")
	c, other := n.dial(), n.dial()
	c.wants("AUTH me secret", "+OK")
	id := other.do("CLIENT", "ID")
	if got := c.do("CLIENT", "LIST"); strings.Count(got, `\n`) != 1 {
		t.Error(got)
	}
	c.wants("CLIENT KILL ID "+id, "0")
	other.wants("PING", "+PONG")
}

func TestServerCommands(t *testing.T) {
	c := startNode(t, Options{Version: "1.2.3", MemoryLimit: 1 << 20, Fsync: "always"}).dial()
	if got := c.do("INFO"); !strings.Contains(got, "redis_version:7.0.15") || !strings.Contains(got, "fiveways_version:1.2.3") ||
		!strings.Contains(got, "connected_clients:1") || !strings.Contains(got, "# Keyspace") {
		t.Error(got)
	}
	if got := c.do("INFO", "clients"); strings.Contains(got, "redis_version") || !strings.Contains(got, "maxclients") {
		t.Error(got)
	}
	c.wants("CONFIG GET maxmemor?", `["maxmemory" "1048576"]`)
	c.wants("CONFIG GET appendonly save", `["appendonly" "yes" "save" ""]`)
	if got := c.do("CONFIG", "SET", "save", "1"); !strings.HasPrefix(got, "-ERR settings are those of the broker") {
		t.Error(got)
	}
	c.wants("COMMAND INFO ping nonsense", "[[\"ping\" -1 [+fast] 0 0 0 [+@connection +@fast] [] [] []] nil]")
	if got := c.do("COMMAND", "COUNT"); got == "0" {
		t.Error(got)
	}
	if all, list := c.do("COMMAND"), c.do("COMMAND", "LIST", "FILTERBY", "PATTERN", "ec*"); !strings.Contains(all, `"ping"`) || list != `["echo"]` {
		t.Error(all, list)
	}
	if got := c.do("COMMAND", "DOCS", "echo"); !strings.HasPrefix(got, `["echo" ["summary" "Echo`) {
		t.Error(got)
	}
	c.wants("COMMAND GETKEYS ping x", "-ERR The command has no key arguments")
	c.wants("WAIT 0 0", "0")
	if got := c.do("TIME"); strings.Count(got, `"`) != 4 {
		t.Error(got)
	}
}
