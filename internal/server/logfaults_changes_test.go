package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// change is a change requested by a client. It is made on a node with the durable queues q and r,
// the semaphore crowd, and what prepare creates.
type change struct {
	name    string
	prepare step
	do      step
	done    string                  // the client's answer on success
	failed  string                  // the answer after a failure of the log
	state   func(n *faultyNode) int // the state that it changes,
	changed int                     // and the value after the change
}

// step makes a client do something and returns the answer.
type step func(ctx context.Context, n *faultyNode) (string, error)

// How each protocol reports a failed log. An AMQP connection is closed with 541.
const (
	amqpFailed  = "Exception (541)"
	sqlFailed   = "SQLSTATE 58030"
	redisFailed = "MISCONF"
	etcdFailed  = "the log takes no more"
	httpFailed  = "503 "
)

// lost returns what the client sees when the node has lost its leadership: its connection ends.
func (c *change) lost() string {
	protocol, _, _ := strings.Cut(c.name, ":")
	return lost[strings.TrimSuffix(protocol, ", a message")]
}

var lost = map[string]string{
	"AMQP": "Exception (320)", "SQL": "SQLSTATE 57P01", "Redis": "EOF", "etcd": "etcdserver: leader changed", "HTTP": "EOF",
}

// all returns a step that executes steps one after the other.
func all(steps ...step) step {
	return func(ctx context.Context, n *faultyNode) (said string, err error) {
		for _, s := range steps {
			if said, err = s(ctx, n); err != nil {
				return said, err
			}
		}
		return said, nil
	}
}

func amqpDo(fn func(ch *amqp091.Channel) error) step {
	return func(_ context.Context, n *faultyNode) (string, error) { return "", fn(n.amqp) }
}

func sqlDo(text string) step {
	return func(ctx context.Context, n *faultyNode) (string, error) {
		rows, err := n.sql.Query(ctx, text, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return "", err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.CommandTag().String(), rows.Err()
	}
}

func redisDo(args ...any) step {
	return func(ctx context.Context, n *faultyNode) (string, error) {
		said, err := n.rdb.Do(ctx, args...).Result()
		return fmt.Sprint(said), err
	}
}

func etcdDo(fn func(ctx context.Context, c *clientv3.Client) error) step {
	return func(ctx context.Context, n *faultyNode) (string, error) { return "", fn(ctx, n.etcd) }
}

func etcdPut(key string) step {
	return etcdDo(func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Put(ctx, key, "v")
		return err
	})
}

func httpDo(method, path, body string) step {
	return func(ctx context.Context, n *faultyNode) (string, error) { return n.post(ctx, method, path, body) }
}

// messages returns a function for the number of messages in a queue.
func messages(queue string) func(n *faultyNode) int {
	return func(n *faultyNode) int { return n.messages(queue) }
}

// moved returns 10 for each message in q plus 1 for each in r.
func moved(n *faultyNode) int { return 10*n.messages("q") + n.messages("r") }

// both returns the number of messages in q and r.
func both(n *faultyNode) int { return n.messages("q") + n.messages("r") }

// there returns a function whose result is 1 if the HTTP API finds the path, and 0 if not.
func there(path string) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		said, err := n.post(n.t.Context(), "GET", path, "")
		n.check(err)
		return map[bool]int{true: 1}[strings.HasPrefix(said, "200 ")]
	}
}

// listed returns a function for the number of objects that the HTTP API lists.
func listed(path string) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		said, err := n.post(n.t.Context(), "GET", path, "")
		n.check(err)
		var list []any
		n.check(json.Unmarshal([]byte(strings.TrimPrefix(said, "200 ")), &list))
		return len(list)
	}
}

// keys returns a function for the number of keys in etcd's API with the prefix.
func keys(prefix string) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		got, err := n.etcd.Get(n.t.Context(), prefix, clientv3.WithPrefix())
		n.check(err)
		return int(got.Count)
	}
}

func leases(n *faultyNode) int {
	got, err := n.etcd.Leases(n.t.Context())
	n.check(err)
	return len(got.Leases)
}

// etcdUsers returns the number of users in etcd's API.
func etcdUsers(n *faultyNode) int {
	got, err := n.etcd.UserList(n.t.Context())
	n.check(err)
	return len(got.Users)
}

// saying returns a function whose result is 1 if the reply to the command is answer, and 0 if not.
func saying(answer string, args ...any) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		said, err := redisDo(args...)(n.t.Context(), n)
		if err != nil {
			said = err.Error()
		}
		return map[bool]int{true: 1}[said == answer]
	}
}

// number returns a function for the number that a command replies.
func number(args ...any) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		said, err := n.rdb.Do(n.t.Context(), args...).Int()
		n.check(err)
		return said
	}
}

// crowd returns a function for a figure of the semaphore crowd.
func crowd(figure string) func(n *faultyNode) int {
	return func(n *faultyNode) int {
		got, err := n.rdb.Do(n.t.Context(), "SEM.INFO", "crowd").Result()
		n.check(err)
		return int(got.(map[any]any)[figure].(int64))
	}
}

// pending returns the number of pending entries of the stream s in the group g.
func pending(n *faultyNode) int {
	got, err := n.rdb.XPending(n.t.Context(), "s", "g").Result()
	n.check(err)
	return int(got.Count)
}

var persistent = amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte("a")}

// publish publishes a message to q in confirm mode and waits for its confirm.
func publish(ctx context.Context, n *faultyNode) (string, error) {
	c, err := n.amqp.PublishWithDeferredConfirmWithContext(ctx, "", "q", false, false, persistent)
	if err != nil {
		return "", err
	}
	ok, err := c.WaitContext(ctx)
	if err == nil && n.amqp.IsClosed() { // then ok does not come from the broker
		if why := <-n.ended; why != nil {
			err = why
		}
	}
	return fmt.Sprint("ack ", ok), err
}

// takeJob takes a job of q and stores its token.
func takeJob(ctx context.Context, n *faultyNode) (string, error) {
	got, err := n.rdb.Do(ctx, "JOB.TAKE", "q").Slice()
	if err != nil {
		return "", err
	}
	n.note = got[0].(map[any]any)["token"].(string)
	return "", nil
}

// holdOf becomes a consumer of a queue in etcd's API and stores the key of its first delivery.
func holdOf(queue string) step {
	return func(ctx context.Context, n *faultyNode) (string, error) {
		for r := range n.etcd.Watch(ctx, "/q/"+queue+"/c/w", clientv3.WithPrefix()) {
			for _, e := range r.Events {
				n.note = string(e.Kv.Key)
				return "", nil
			}
			if err := r.Err(); err != nil {
				return "", err
			}
		}
		return "", errors.New("the watch has ended")
	}
}

var changes = []change{
	{
		name: "AMQP: a publish with confirm", prepare: amqpDo(func(ch *amqp091.Channel) error { return ch.Confirm(false) }),
		do: publish, done: "ack true", failed: "ack false", state: messages("q"), changed: 1,
	},
	{
		name: "AMQP: a transaction of publishes",
		prepare: amqpDo(func(ch *amqp091.Channel) error {
			_ = ch.Tx()
			return ch.Publish("", "q", false, false, persistent)
		}),
		do: amqpDo((*amqp091.Channel).TxCommit), failed: amqpFailed, state: messages("q"), changed: 1,
	},
	{
		name: "AMQP: a transaction of acks and publishes",
		prepare: all(redisDo("LPUSH", "q", "a"), amqpDo(func(ch *amqp091.Channel) error {
			_ = ch.Tx()
			got, _, err := ch.Get("q", false)
			if err != nil {
				return err
			}
			_ = ch.Ack(got.DeliveryTag, false)
			return ch.Publish("", "r", false, false, persistent)
		})),
		do: amqpDo((*amqp091.Channel).TxCommit), failed: amqpFailed, state: moved, changed: 1,
	},
	{
		name: "AMQP: a queue",
		do: amqpDo(func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare("new", true, false, false, false, nil)
			return err
		}),
		failed: amqpFailed, state: messages("new"), changed: 0,
	},
	{
		name: "AMQP: the end of a queue", prepare: redisDo("LPUSH", "q", "a"),
		do: func(_ context.Context, n *faultyNode) (string, error) {
			purged, err := n.amqp.QueueDelete("q", false, false, false)
			return fmt.Sprint(purged), err
		},
		done: "1", failed: amqpFailed, state: messages("q"), changed: -1,
	},
	{
		name: "AMQP: a purge", prepare: redisDo("LPUSH", "q", "a", "b"),
		do: func(_ context.Context, n *faultyNode) (string, error) {
			purged, err := n.amqp.QueuePurge("q", false)
			return fmt.Sprint(purged), err
		},
		done: "2", failed: amqpFailed, state: messages("q"), changed: 0,
	},
	{
		name: "AMQP: an exchange",
		do: amqpDo(func(ch *amqp091.Channel) error {
			return ch.ExchangeDeclare("x", "fanout", true, false, false, false, nil)
		}),
		failed: amqpFailed, state: there("/api/exchanges/%2F/x"), changed: 1,
	},
	{
		name: "AMQP: the end of an exchange", prepare: httpDo("PUT", "/api/exchanges/%2F/x", `{"type":"fanout","durable":true}`),
		do:     amqpDo(func(ch *amqp091.Channel) error { return ch.ExchangeDelete("x", false, false) }),
		failed: amqpFailed, state: there("/api/exchanges/%2F/x"), changed: 0,
	},
	{
		name:   "AMQP: a binding of a queue",
		do:     amqpDo(func(ch *amqp091.Channel) error { return ch.QueueBind("q", "key", "amq.direct", false, nil) }),
		failed: amqpFailed, state: listed("/api/bindings/%2F/e/amq.direct/q/q"), changed: 1,
	},
	{
		name: "AMQP: the end of a binding of a queue", prepare: amqpDo(func(ch *amqp091.Channel) error { return ch.QueueBind("q", "key", "amq.direct", false, nil) }),
		do:     amqpDo(func(ch *amqp091.Channel) error { return ch.QueueUnbind("q", "key", "amq.direct", nil) }),
		failed: amqpFailed, state: listed("/api/bindings/%2F/e/amq.direct/q/q"), changed: 0,
	},
	{
		name:   "AMQP: a binding of an exchange",
		do:     amqpDo(func(ch *amqp091.Channel) error { return ch.ExchangeBind("amq.fanout", "key", "amq.direct", false, nil) }),
		failed: amqpFailed, state: listed("/api/bindings/%2F/e/amq.direct/e/amq.fanout"), changed: 1,
	},
	{
		name: "AMQP: the end of a binding of an exchange", prepare: amqpDo(func(ch *amqp091.Channel) error { return ch.ExchangeBind("amq.fanout", "key", "amq.direct", false, nil) }),
		do: amqpDo(func(ch *amqp091.Channel) error {
			return ch.ExchangeUnbind("amq.fanout", "key", "amq.direct", false, nil)
		}),
		failed: amqpFailed, state: listed("/api/bindings/%2F/e/amq.direct/e/amq.fanout"), changed: 0,
	},

	// The first post to a queue reserves a range of iids by a log entry of its own.
	{name: "SQL: a post", prepare: sqlDo("select mbus4.post('q', 'a=>1')"), do: sqlDo("select mbus4.post('q', 'a=>1')"), done: "SELECT 1", failed: sqlFailed, state: messages("q"), changed: 2},
	{name: "SQL: a consume", prepare: sqlDo("select mbus4.post('q', 'a=>1')"), do: sqlDo("select * from mbus4.consume('q')"), done: "SELECT 1", failed: sqlFailed, state: messages("q"), changed: 0},
	{name: "SQL: a take", prepare: sqlDo("select mbus4.post('q', 'a=>1')"), do: sqlDo("select * from mbus4.take('q.1')"), done: "SELECT 1", failed: sqlFailed, state: messages("q"), changed: 0},
	{
		name:    "SQL: a COMMIT of posts",
		prepare: all(sqlDo("begin"), sqlDo("select mbus4.post('q', 'a=>1')"), sqlDo("select mbus4.post('r', 'a=>1')")),
		do:      sqlDo("commit"), done: "COMMIT", failed: sqlFailed, state: both, changed: 2,
	},
	{
		name:    "SQL: a COMMIT of a consume and a post",
		prepare: all(sqlDo("select mbus4.post('q', 'a=>1')"), sqlDo("begin"), sqlDo("select * from mbus4.consume('q')"), sqlDo("select mbus4.post('r', 'a=>1')")),
		do:      sqlDo("commit"), done: "COMMIT", failed: sqlFailed, state: moved, changed: 1,
	},
	{name: "SQL: a queue", do: sqlDo("select mbus4.create_queue('new', 2)"), done: "SELECT 1", failed: sqlFailed, state: messages("new"), changed: 0},
	{name: "SQL: the end of a queue", do: sqlDo("select mbus4.drop_queue('q')"), done: "SELECT 1", failed: sqlFailed, state: messages("q"), changed: -1},
	{name: "SQL: a semaphore", do: sqlDo("select key from semaphore.get_or_create('new')"), done: "SELECT 1", failed: sqlFailed, state: there("/api/semaphores/%2F/new"), changed: 1},
	{name: "SQL: a task of a semaphore", do: sqlDo("select semaphore.enqueue('crowd', 1, 1)"), done: "SELECT 1", failed: sqlFailed, state: crowd("acquired"), changed: 1},
	{name: "SQL: a released task", prepare: redisDo("SEM.ENQUEUE", "crowd", "1", 1), do: sqlDo("select semaphore.release('crowd', 1)"), done: "SELECT 1", failed: sqlFailed, state: crowd("acquired"), changed: 0},

	{name: "Redis: LPUSH", do: redisDo("LPUSH", "q", "a"), done: "1", failed: redisFailed, state: messages("q"), changed: 1},
	{name: "Redis: RPOP", prepare: redisDo("LPUSH", "q", "a"), do: redisDo("RPOP", "q"), done: "a", failed: redisFailed, state: messages("q"), changed: 0},
	{name: "Redis: BRPOP", prepare: redisDo("LPUSH", "q", "a"), do: redisDo("BRPOP", "q", 0), done: "[q a]", failed: redisFailed, state: messages("q"), changed: 0},
	{name: "Redis: LMOVE", prepare: redisDo("LPUSH", "q", "a"), do: redisDo("LMOVE", "q", "r", "LEFT", "LEFT"), done: "a", failed: redisFailed, state: moved, changed: 1},
	{name: "Redis: DEL", prepare: redisDo("LPUSH", "q", "a"), do: redisDo("DEL", "q"), done: "1", failed: redisFailed, state: messages("q"), changed: 0},
	{
		name: "Redis: EXEC over queues",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.LPush(ctx, "q", "a")
				p.LPush(ctx, "r", "a")
				return nil
			})
			return "", err
		},
		failed: redisFailed, state: both, changed: 2,
	},
	// The first job makes the queue a job queue by a log entry of its own; so does the first XADD.
	{name: "Redis: JOB.ENQUEUE", prepare: redisDo("JOB.ENQUEUE", "q", "a"), do: redisDo("JOB.ENQUEUE", "q", "b"), done: "[added", failed: redisFailed, state: messages("q"), changed: 2},
	{name: "Redis: JOB.TAKE", prepare: redisDo("JOB.ENQUEUE", "q", "a", "ID", "m"), do: redisDo("JOB.TAKE", "q"), done: "token", failed: redisFailed, state: saying("locked", "JOB.STATUS", "q", "m"), changed: 1},
	{
		name: "Redis: JOB.DONE", prepare: all(redisDo("JOB.ENQUEUE", "q", "a", "ID", "m"), takeJob),
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return redisDo("JOB.DONE", "q", "m", n.note)(ctx, n)
		},
		done: "OK", failed: redisFailed, state: messages("q"), changed: 0,
	},
	{name: "Redis: XADD", prepare: redisDo("XADD", "s", "*", "a", "1"), do: redisDo("XADD", "s", "*", "a", "2"), done: "-", failed: redisFailed, state: number("XLEN", "s"), changed: 2},
	{
		name: "Redis: XREADGROUP", prepare: all(redisDo("XADD", "s", "1-1", "a", "1"), redisDo("XGROUP", "CREATE", "s", "g", "0"), redisDo("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "0")),
		do: redisDo("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"), done: "1-1", failed: redisFailed, state: pending, changed: 1,
	},
	{
		name: "Redis: XACK", prepare: all(redisDo("XADD", "s", "1-1", "a", "1"), redisDo("XGROUP", "CREATE", "s", "g", "0"), redisDo("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")),
		do: redisDo("XACK", "s", "g", "1-1"), done: "1", failed: redisFailed, state: pending, changed: 0,
	},
	{name: "Redis: SEM.CREATE", do: redisDo("SEM.CREATE", "new"), done: "1", failed: redisFailed, state: there("/api/semaphores/%2F/new"), changed: 1},
	{name: "Redis: SEM.SET", do: redisDo("SEM.SET", "crowd", "ACTIVE", 7, "TRYRELEASE", 7), done: "OK", failed: redisFailed, state: crowd("active"), changed: 7},
	{name: "Redis: SEM.DEL", do: redisDo("SEM.DEL", "crowd"), done: "1", failed: redisFailed, state: there("/api/semaphores/%2F/crowd"), changed: 0},
	{name: "Redis: SEM.ENQUEUE", do: redisDo("SEM.ENQUEUE", "crowd", "cat", 1), done: "[", failed: redisFailed, state: crowd("acquired"), changed: 1},
	{name: "Redis: SEM.ACQUIRE", do: redisDo("SEM.ACQUIRE", "crowd", "cat", 1), done: "ACQUIRED", failed: redisFailed, state: crowd("acquired"), changed: 1},
	{name: "Redis: SEM.RELEASE", prepare: redisDo("SEM.ENQUEUE", "crowd", "cat", 1), do: redisDo("SEM.RELEASE", "crowd", "cat"), done: "1", failed: redisFailed, state: crowd("acquired"), changed: 0},

	{name: "etcd: a put of a key", do: etcdPut("k"), failed: etcdFailed, state: keys("k"), changed: 1},
	{
		name: "etcd: a delete of a key", prepare: etcdPut("k"),
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Delete(ctx, "k")
			return err
		}),
		failed: etcdFailed, state: keys("k"), changed: 0,
	},
	{
		name: "etcd: a transaction over keys", prepare: etcdPut("k1"),
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision("k1"), ">", 0)).Then(clientv3.OpPut("k2", "v"), clientv3.OpPut("k3", "v")).Commit()
			return err
		}),
		failed: etcdFailed, state: keys("k"), changed: 3,
	},
	{
		name: "etcd: a lease",
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Grant(ctx, 600)
			return err
		}),
		failed: etcdFailed, state: leases, changed: 1,
	},
	{
		name: "etcd: the end of a lease",
		prepare: func(ctx context.Context, n *faultyNode) (string, error) {
			got, err := n.etcd.Grant(ctx, 600)
			if err == nil {
				n.lease = got.ID
			}
			return "", err
		},
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.etcd.Revoke(ctx, n.lease)
			return "", err
		},
		failed: etcdFailed, state: leases, changed: 0,
	},
	{
		name: "etcd: a user",
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.UserAdd(ctx, "ann", "secret")
			return err
		}),
		failed: etcdFailed, state: etcdUsers, changed: 2,
	},
	{name: "etcd: a put of a message", do: etcdPut("/q/q/p/k"), failed: etcdFailed, state: messages("q"), changed: 1},
	{
		name: "etcd: a delete of a delivery", prepare: all(etcdPut("/q/q/p/k"), holdOf("q")),
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			got, err := n.etcd.Delete(ctx, n.note)
			if err != nil {
				return "", err
			}
			return fmt.Sprint("deleted ", got.Deleted), nil
		},
		done: "deleted 1", failed: etcdFailed, state: messages("q"), changed: 0,
	},
	{
		name: "etcd: a delete of a queue",
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Delete(ctx, "/q/q")
			return err
		}),
		failed: etcdFailed, state: messages("q"), changed: -1,
	},
	{
		name: "etcd: a transaction over a message and a key",
		do: etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Txn(ctx).Then(clientv3.OpPut("/q/q/p/k", "v"), clientv3.OpPut("k", "v")).Commit()
			return err
		}),
		failed: etcdFailed, state: func(n *faultyNode) int { return n.messages("q") + keys("k")(n) }, changed: 2,
	},

	{name: "HTTP: a message", do: httpDo("POST", "/api/queues/%2F/q/messages?raw=true", "a"), done: "201 ", failed: httpFailed, state: messages("q"), changed: 1},
	{name: "HTTP: a queue", do: httpDo("PUT", "/api/queues/%2F/new", `{"durable":true}`), done: "201 ", failed: httpFailed, state: messages("new"), changed: 0},
	{name: "HTTP: the end of a queue", do: httpDo("DELETE", "/api/queues/%2F/q", ""), done: "204 ", failed: httpFailed, state: messages("q"), changed: -1},
	{name: "HTTP: a purge", prepare: redisDo("LPUSH", "q", "a"), do: httpDo("DELETE", "/api/queues/%2F/q/contents", ""), done: "204 ", failed: httpFailed, state: messages("q"), changed: 0},
	{name: "HTTP: an exchange", do: httpDo("PUT", "/api/exchanges/%2F/x", `{"type":"fanout","durable":true}`), done: "201 ", failed: httpFailed, state: there("/api/exchanges/%2F/x"), changed: 1},
	{name: "HTTP: a user", do: httpDo("PUT", "/api/users/ann", `{"password":"secret","tags":""}`), done: "201 ", failed: httpFailed, state: there("/api/users/ann"), changed: 1},
	{name: "HTTP: the end of a user", prepare: httpDo("PUT", "/api/users/ann", `{"password":"secret","tags":""}`), do: httpDo("DELETE", "/api/users/ann", ""), done: "204 ", failed: httpFailed, state: there("/api/users/ann"), changed: 0},
	{name: "HTTP: a virtual host", do: httpDo("PUT", "/api/vhosts/shop", ""), done: "201 ", failed: httpFailed, state: there("/api/vhosts/shop"), changed: 1},
	{name: "HTTP: a policy", do: httpDo("PUT", "/api/policies/%2F/p", `{"pattern":"^q$","definition":{"max-length":3}}`), done: "201 ", failed: httpFailed, state: there("/api/policies/%2F/p"), changed: 1},
	{name: "HTTP: the end of a policy", prepare: httpDo("PUT", "/api/policies/%2F/p", `{"pattern":"^q$","definition":{"max-length":3}}`), do: httpDo("DELETE", "/api/policies/%2F/p", ""), done: "204 ", failed: httpFailed, state: there("/api/policies/%2F/p"), changed: 0},
	{name: "HTTP: definitions", do: httpDo("POST", "/api/definitions/%2F", `{"queues":[{"name":"new","durable":true,"auto_delete":false,"arguments":{}}]}`), done: "20", failed: httpFailed, state: messages("new"), changed: 0},
	{name: "HTTP: a job", prepare: redisDo("JOB.ENQUEUE", "q", "a"), do: httpDo("POST", "/api/jobs/%2F/q", `{"body":"b"}`), done: "20", failed: httpFailed, state: messages("q"), changed: 2},
	{name: "HTTP: the end of a job", prepare: redisDo("JOB.ENQUEUE", "q", "a", "ID", "m"), do: httpDo("DELETE", "/api/jobs/%2F/q/m", ""), done: "20", failed: httpFailed, state: messages("q"), changed: 0},
	{name: "HTTP: a key", do: httpDo("PUT", "/api/keys/k", `{"value":"v"}`), done: "20", failed: httpFailed, state: keys("k"), changed: 1},
	{name: "HTTP: the end of a key", prepare: etcdPut("k"), do: httpDo("DELETE", "/api/keys/k", ""), done: "20", failed: httpFailed, state: keys("k"), changed: 0},
	{name: "HTTP: a semaphore", do: httpDo("PUT", "/api/semaphores/%2F/new", `{"active":2,"try_release":2}`), done: "20", failed: httpFailed, state: there("/api/semaphores/%2F/new"), changed: 1},
	{name: "HTTP: the end of a semaphore", do: httpDo("DELETE", "/api/semaphores/%2F/crowd", ""), done: "20", failed: httpFailed, state: there("/api/semaphores/%2F/crowd"), changed: 0},
	{name: "HTTP: a task of a semaphore", do: httpDo("POST", "/api/semaphores/%2F/crowd/tasks", `{"tasks":[{"task":"cat","priority":1}]}`), done: "200 ", failed: httpFailed, state: crowd("acquired"), changed: 1},
}
