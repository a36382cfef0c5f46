package pgwire

import "testing"

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

// TestDeadWaiter: messages held by a client are released at once if the client dies while it waits
// for another message.
func TestDeadWaiter(t *testing.T) {
	n := startRealNode(t, Options{})
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
	b.nc.Close()
	c.query("select (mbus4.take('q.two')).iid", took("q.two", "I"))
}
