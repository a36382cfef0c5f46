package resp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

func TestPing(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	c.Wants("PING", "+PONG")
	c.Wants("ping x", `"x"`)
	c.Wants("PING x y", "-ERR wrong number of arguments for 'ping' command")
	c.Wants("echo hello", `"hello"`)
	c.Wants("echo", "-ERR wrong number of arguments for 'echo' command")
	c.Send("PING\r\n\r\n  \r\necho \"a\\x41\\n\"\r\n*0\r\nPING\r\n")
	for _, want := range []string{"+PONG", `"aA\n"`, "+PONG"} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.Wants("nonsense a b", "-ERR unknown command 'nonsense', with args beginning with: 'a' 'b' ")
	c.Wants("QUIT", "+OK")
	c.Ends()
}

func TestLogin(t *testing.T) {
	n := startNode(t, Options{})
	n.user("me", "secret")
	if _, err := n.Broker.PutUser(catalog.UserSpec{Name: "nobody", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	c.Wants("AUTH me wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	c.Wants("AUTH you secret", "-WRONGPASS invalid username-password pair or user is disabled.")
	c.Wants("AUTH nobody secret", "-NOPERM this user has no permissions in the virtual host '/'")
	c.Wants("AUTH me secret", "+OK")
	c.Wants("AUTH guest", "+OK") // Redis calls the user guest "default"
	c.Wants("AUTH a b c", "-ERR syntax error")
	c.Wants("HELLO 4", "-NOPROTO unsupported protocol version")
	c.Wants("HELLO x", "-ERR Protocol version is not an integer or out of range")
	c.Wants("HELLO 3 AUTH me", "-ERR Syntax error in HELLO option 'AUTH'")
	c.Wants("HELLO 3 AUTH me wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	if got := c.Do("HELLO", "3", "AUTH", "me", "secret", "SETNAME", "x"); !strings.HasPrefix(got, `{"server" "redis" "version" "7.0.15" "proto" 3 "id"`) {
		t.Error(got)
	}
	if got := c.Do("HELLO"); !strings.Contains(got, `"proto" 3 `) {
		t.Error(got)
	}
}

// TestLoginAtLimit checks that a client whose user has no room for another connection can log in
// again and select another virtual host: its session gives way to the new one.
func TestLoginAtLimit(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	if _, err := n.Broker.PutVHost(catalog.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	for _, vhost := range []string{"/", "shop"} {
		if _, err := n.Broker.SetPermission(catalog.Permission{User: "me", VHost: vhost}); err != nil {
			t.Fatal(err)
		}
		if err := n.Broker.SetVHostLimit(vhost, catalog.LimitConnections, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Broker.SetUserLimit("me", catalog.LimitConnections, 1); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	for _, command := range []string{"AUTH me secret", "AUTH me secret", "SELECT shop", "SELECT 0"} {
		c.Wants(command, "+OK")
	}
	n.Dial().Wants("AUTH me secret", "-ERR max number of clients of the virtual host reached")
	c.Wants("SELECT shop", "+OK")
	n.Dial().Wants("AUTH me secret", "-ERR max number of clients of the user reached")
}

// TestFailedLogin checks that a client whose login failed has no user and is not guest, and that a
// client that is logged in keeps its user.
func TestFailedLogin(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "r", ".*")
	const wrong, needed = "-WRONGPASS invalid username-password pair or user is disabled.", "-NOAUTH Authentication required."
	if _, err := n.Broker.PutUser(catalog.UserSpec{Name: "nobody", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	for login, want := range map[string]string{
		"AUTH me wrong": wrong, "AUTH wrong": wrong, "HELLO 3 AUTH me wrong": wrong,
		"AUTH nobody secret": "-NOPERM this user has no permissions in the virtual host '/'",
	} {
		for _, before := range []string{"", "LLEN q", "SUBSCRIBE a"} { // or what makes it guest
			c := n.Dial()
			if before != "" {
				c.Do(strings.Fields(before)...)
			}
			if before == "SUBSCRIBE a" {
				c.Wants("UNSUBSCRIBE", `["unsubscribe" "a" 0]`)
			}
			c.Wants(login, want)
			c.Wants("LLEN q", needed)
			c.Wants("SELECT 0", needed)
			if got := c.Do("HELLO", "3"); !strings.HasPrefix(got, "-NOAUTH HELLO must be called with") {
				t.Error(got)
			}
			c.Wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
			c.Wants("AUTH me secret", "+OK")
			c.Wants("LLEN q", "0")
			c.Wants("AUTH me wrong", wrong) // as in Redis, the user stays the same
			c.Wants("LLEN q", "0")
			c.Wants("RESET", "+RESET")
			c.Wants("LLEN q", "0")
		}
	}
	c := n.Dial()
	c.Wants("MULTI", "+OK")
	c.Wants("AUTH me wrong", "+QUEUED")
	c.Wants("LLEN q", "+QUEUED")
	c.Wants("PUBSUB NUMPAT", "+QUEUED")
	c.Wants("EXEC", "["+wrong+" 0 0]")
	c.Wants("LLEN q", needed)
}

// TestLoginNeeded checks that a login is required if guest's password was changed.
func TestLoginNeeded(t *testing.T) {
	n := startNode(t, Options{})
	if err := n.Broker.SetPassword("guest", "other"); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	c.Wants("PING", "-NOAUTH Authentication required.")
	c.Wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
	c.Wants("ECHO", "-ERR wrong number of arguments for 'echo' command")
	if got := c.Do("HELLO", "3"); !strings.HasPrefix(got, "-NOAUTH HELLO must be called with") {
		t.Error(got)
	}
	c.Wants("AUTH other", "+OK")
	c.Wants("PING", "+PONG")

	c = n.Dial()
	c.Send("*11\r\n")
	if got := c.Reply(); got != "-ERR Protocol error: unauthenticated multibulk length" {
		t.Error(got)
	}
	c.Ends()
	c = n.Dial()
	c.Send("*1\r\n$16385\r\n")
	if got := c.Reply(); got != "-ERR Protocol error: unauthenticated bulk length" {
		t.Error(got)
	}
	c.Ends()
}

// TestLoginTimeout checks that a client that must log in has a time limit for it, after RESET too.
func TestLoginTimeout(t *testing.T) {
	const limit = time.Second
	synctest.Test(t, func(t *testing.T) {
		n := bubbleNode(t, Options{LoginTimeout: limit})
		n.cheapUser("me")
		n.permit("me", "z", ".*")
		if err := n.Broker.SetPassword("guest", "other"); err != nil {
			t.Fatal(err)
		}
		ends := func(c *resptest.Client) {
			t.Helper()
			begun := time.Now()
			c.Ends()
			if d := time.Since(begun); d != limit {
				t.Errorf("ended after %v", d)
			}
		}
		ends(n.Dial())
		c := n.Dial()
		c.Wants("AUTH me secret", "+OK")
		time.Sleep(2 * limit)
		c.Wants("RESET", "+RESET")
		ends(c)

		c = n.Dial()
		c.Wants("RESET", "+RESET")
		c.Wants("AUTH me secret", "+OK")
		time.Sleep(2 * limit)
		c.Wants("PING", "+PONG")
	})
}

func TestSelect(t *testing.T) {
	n := startNode(t, Options{})
	if _, err := n.Broker.PutVHost(catalog.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Broker.SetPermission(catalog.Permission{User: "guest", VHost: "shop", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	c.Wants("SELECT 0", "+OK")
	c.Wants("SELECT 1", "-ERR DB index is out of range")
	c.Wants("SELECT shop", "+OK")
	c.Wants("SELECT nowhere", "-ERR no such virtual host 'nowhere'")
	c.Wants("SELECT 0", "+OK")
}

func TestClient(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	c.Wants("CLIENT", "-ERR wrong number of arguments for 'client' command")
	c.Wants("CLIENT nonsense", "-ERR unknown subcommand 'nonsense'. Try CLIENT HELP.")
	c.Wants("client setname", "-ERR wrong number of arguments for 'client|setname' command")
	c.Wants("CLIENT GETNAME", "nil")
	c.Wants("CLIENT SETNAME me", "+OK")
	c.Wants("CLIENT GETNAME", `"me"`)
	if got := c.Do("CLIENT", "SETNAME", "a b"); got != "-ERR Client names cannot contain spaces, newlines or special characters." {
		t.Error(got)
	}
	c.Wants("CLIENT SETINFO lib-name x", "+OK")
	c.Wants("CLIENT NO-EVICT on", "+OK")
	id := other.Do("CLIENT", "ID")
	if got := c.Do("CLIENT", "LIST"); strings.Count(got, `\n`) != 2 || !strings.Contains(got, "id="+id+" addr=") || !strings.Contains(got, " name=me ") ||
		!strings.Contains(got, "cmd=client|list user=guest") {
		t.Error(got)
	}
	if got := c.Do("CLIENT", "LIST", "ID", id); strings.Count(got, `\n`) != 1 {
		t.Error(got)
	}
	c.Wants("CLIENT KILL ID "+id, "1")
	other.Ends()
	c.Wants("CLIENT KILL ID "+id, "0")
	c.Wants("CLIENT KILL 1.2.3.4:5", "-ERR No such client")
	c.Send(resptest.Encode("CLIENT", "REPLY", "SKIP") + resptest.Encode("CLIENT", "REPLY", "SKIP") + resptest.Encode("PING") + resptest.Encode("ECHO", "1") + resptest.Encode("CLIENT", "REPLY", "OFF") + resptest.Encode("PING") +
		resptest.Encode("ECHO", "2") + resptest.Encode("CLIENT", "REPLY", "ON") + resptest.Encode("ECHO", "3"))
	for _, want := range []string{`"1"`, "+OK", `"3"`} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestClientOfOthers checks that users who are not administrators can neither see nor close the
// connections of other users.
func TestClientOfOthers(t *testing.T) {
	n := startNode(t, Options{})
	n.user("me", "secret")
	c, other := n.Dial(), n.Dial()
	c.Wants("AUTH me secret", "+OK")
	id := other.Do("CLIENT", "ID")
	if got := c.Do("CLIENT", "LIST"); strings.Count(got, `\n`) != 1 {
		t.Error(got)
	}
	c.Wants("CLIENT KILL ID "+id, "0")
	other.Wants("PING", "+PONG")
}

func TestServerCommands(t *testing.T) {
	c := startNode(t, Options{Version: "1.2.3", MemoryLimit: 1 << 20, Fsync: "always"}).Dial()
	if got := c.Do("INFO"); !strings.Contains(got, "redis_version:7.0.15") || !strings.Contains(got, "fiveways_version:1.2.3") ||
		!strings.Contains(got, "connected_clients:1") || !strings.Contains(got, "# Keyspace") {
		t.Error(got)
	}
	if got := c.Do("INFO", "clients"); strings.Contains(got, "redis_version") || !strings.Contains(got, "maxclients") {
		t.Error(got)
	}
	c.Wants("CONFIG GET maxmemor?", `["maxmemory" "1048576"]`)
	c.Wants("CONFIG GET appendonly save", `["appendonly" "yes" "save" ""]`)
	if got := c.Do("CONFIG", "SET", "save", "1"); !strings.HasPrefix(got, "-ERR settings are those of the broker") {
		t.Error(got)
	}
	c.Wants("COMMAND INFO ping nonsense", "[[\"ping\" -1 [+fast] 0 0 0 [+@connection +@fast] [] [] []] nil]")
	if got := c.Do("COMMAND", "COUNT"); got == "0" {
		t.Error(got)
	}
	if all, list := c.Do("COMMAND"), c.Do("COMMAND", "LIST", "FILTERBY", "PATTERN", "ec*"); !strings.Contains(all, `"ping"`) || list != `["echo"]` {
		t.Error(all, list)
	}
	if got := c.Do("COMMAND", "DOCS", "echo"); !strings.HasPrefix(got, `["echo" ["summary" "Echo`) {
		t.Error(got)
	}
	c.Wants("COMMAND GETKEYS ping x", "-ERR The command has no key arguments")
	if got := c.Do("INFO", "cpu"); !strings.Contains(got, "used_cpu_sys:") || !strings.Contains(got, "used_cpu_user:") {
		t.Error(got)
	}
	if got := c.Do("INFO", "replication"); !strings.Contains(got, "role:master") || !strings.Contains(got, "master_repl_offset:0") {
		t.Error(got)
	}
	c.Wants("ROLE", `["master" 0 []]`)
	c.Wants("WAIT 0 0", "0")
	if got := c.Do("TIME"); strings.Count(got, `"`) != 4 {
		t.Error(got)
	}
}

// TestHelp checks that HELP, to which the error for an unknown subcommand refers, lists the
// subcommands.
func TestHelp(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	for _, d := range allCommands() {
		if len(d.Subs) == 0 {
			continue
		}
		name := strings.ToUpper(d.Name)
		got := c.Do(name, "help")
		for i := range d.Subs {
			_, sub, _ := strings.Cut(d.Subs[i].Name, "|")
			if !strings.Contains(got, "+"+strings.ToUpper(sub)) {
				t.Errorf("%s HELP has no %s: %s", name, sub, got)
			}
		}
	}
}
