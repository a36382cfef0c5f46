package pgwire

import (
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol"
)

// TestMadeAgain: a psql -c script drops a queue and creates it again.
func TestMadeAgain(t *testing.T) {
	c := startRealNode(t, Options{}).login()
	c.query("select mbus4.create_queue('q', 1)", `T create_queue:2278:0 / D "" / C SELECT 1 / Z I`)
	c.query("do_nothing", `E ERROR 42601 syntax error at or near "do_nothing" @1 / Z I`)
	const again = "select mbus4.drop_queue('q'); select mbus4.create_queue('q', 1)"
	c.query(again, `T drop_queue:2278:0 / D "" / C SELECT 1 / T create_queue:2278:0 / D "" / C SELECT 1 / Z I`)
	c.query("begin; "+again, `C BEGIN / T drop_queue:2278:0 / D "" / C SELECT 1 / T create_queue:2278:0 / E ERROR 0A000 queue "q" was dropped in this transaction | Commit before it is made again. / Z E`)
	c.query("rollback", "C ROLLBACK / Z I")
}

// TestCursorOfItself: a statement that a cursor runs can neither close that cursor nor move it.
func TestCursorOfItself(t *testing.T) {
	c := startRealNode(t, Options{}).login()
	c.answer("select mbus4.create_queue('q', 1), mbus4.create_run_function('q')")
	for do, want := range map[string]string{
		"close c":     `cannot drop active portal "c"`,
		"fetch c":     `portal "c" cannot be run`,
		"close all":   "",
		"discard all": "DISCARD ALL cannot be executed from a function",
	} {
		c.answer("select mbus4.post('q', 'n=>1')")
		c.answer("begin; declare c cursor for select mbus4.run_on_q('" + do + "') as done")
		done := "0"
		if want == "" {
			done = "1"
		}
		c.query("fetch all from c", `T done:23:0 / D "`+done+`" / C FETCH 1 / Z T`)
		c.query("commit", "C COMMIT / Z I")
		if got := c.answer("select headers->'dmq.error' as why from mbus4.consume('dmq')"); want != "" && !strings.Contains(got, strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: %s, want %s", do, got, want)
		}
	}
	c.answer("select mbus4.post('q', 'n=>1')")
	c.query("select mbus4.run_on_q('discard all') as done", `T done:23:0 / D "0" / C SELECT 1 / Z I`)
}

// TestDeadWaiter: messages held by a client are released at once if the client dies, or closes its
// connection, while it waits for another message. It may be connected through another node.
func TestDeadWaiter(t *testing.T) {
	for name, leave := range map[string]func(*client){
		"dies":   func(*client) {},
		"closes": func(b *client) { b.send(&pgproto3.Terminate{}) },
	} {
		t.Run(name, func(t *testing.T) { testDeadWaiter(t, startRealNode(t, Options{}), leave) })
	}
	t.Run("through another node", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		n := serve(t, Options{}, lending{ln})
		n.addr = ln.Addr().String()
		testDeadWaiter(t, n, func(b *client) { b.send(&pgproto3.Terminate{}) })
	})
}

// lending is a listener of connections that another node passes on.
type lending struct{ net.Listener }

func (l lending) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return protocol.Lend(nc), nil
}

// answer sends a query and returns all that comes back.
func (c *client) answer(text string) string {
	c.n.t.Helper()
	c.send(query(text))
	return c.until("Z")
}

func testDeadWaiter(t *testing.T, n *node, leave func(*client)) {
	a, b, c := n.login(), n.login(), n.login()
	a.query("select mbus4.create_queue('q', 1)", `T create_queue:2278:0 / D "" / C SELECT 1 / Z I`)
	for _, id := range []string{"q.one", "q.two"} {
		a.query("select mbus4.post('q', 'n=>1', iid => '"+id+"')", `T post:25:0 / D "`+id+`" / C SELECT 1 / Z I`)
	}
	took := func(id, state string) string { return `T iid:25:0 / D "` + id + `" / C SELECT 1 / Z ` + state }
	a.query("begin", "C BEGIN / Z T")
	a.query("select (mbus4.take('q.one')).iid", took("q.one", "T"))
	b.query("begin", "C BEGIN / Z T")
	b.query("select (mbus4.take('q.two')).iid", took("q.two", "T"))
	b.send(query("select (mbus4.take('q.one')).iid"))
	for running := `D "active" / C SELECT 1 / Z I`; !strings.HasSuffix(c.answer("select state from pg_stat_activity where query like '%take(_q.one%' and state = 'active' and pid <> pg_backend_pid()"), running); {
	}
	leave(b)
	b.nc.Close()
	c.query("select (mbus4.take('q.two')).iid", took("q.two", "I"))
}
