package matrix

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// quartet is a node with a client of each kind, for features that only some protocols have.
type quartet struct {
	*node
	amqp *amqpEnd
	sql  *sqlEnd
	r    *redis.Client
	etcd *etcdEnd
	http *httpEnd
}

// across are tests of features that only some protocols have. They share a broker, since the first
// SQL statement of a process takes long.
var across = map[string]func(t *testing.T, n *quartet){
	"messages are jobs":      messagesAreJobs,
	"jobs are messages":      jobsAreMessages,
	"attempts":               attempts,
	"transactions hold jobs": transactionsHoldJobs,
	"dead jobs":              deadJobs,
	"waiters":                waiters,
	"selectors and groups":   selectorsAndGroups,
	"channels":               channels,
	"streams of all":         streamsOfAll,
	"lists of all":           listsOfAll,
	"messages are keys":      messagesAreKeys,
	"keys are messages":      keysAreMessages,
	"held by one":            heldByOne,
	"streams over HTTP":      streamsOverHTTP,
	"RabbitMQ's HTTP":        httpOfRabbitMQ,
	"bodies as they are":     bodiesAsTheyAre,
	"transactions of keys":   transactionsOfKeys,
	"dead keys":              deadKeys,
}

func TestAcross(t *testing.T) {
	n := start(t)
	for _, name := range slices.Sorted(maps.Keys(across)) {
		t.Run(name, func(t *testing.T) {
			conn := n.ends["amqp"].(*amqpEnd).conn
			ch, err := conn.Channel()
			must(t, err)
			defer ch.Close()
			must(t, ch.Confirm(false))
			mine := *n
			mine.t = t
			across[name](t, &quartet{&mine, &amqpEnd{conn, ch}, n.ends["sql"].(*sqlEnd), n.ends["jobs"].(*jobsEnd).r, n.ends["etcd"].(*etcdEnd), n.ends["http"].(*httpEnd)})
			removeAll(t, conn)
		})
	}
}

// removeAll deletes the queues and exchanges that a test created.
func removeAll(t *testing.T, conn *amqp.Connection) {
	t.Helper()
	ch, err := conn.Channel()
	must(t, err)
	defer ch.Close()
	for _, name := range []string{"q", "r", "s", "dead", "letters", "orders", "orders.cold", "grouped", "news"} {
		if _, err := ch.QueueDelete(name, false, false, false); err != nil {
			t.Fatal(err)
		}
		must(t, ch.ExchangeDelete(name, false, false))
	}
}

// do runs a Redis command and returns its reply as text.
func (n *quartet) do(args ...any) string {
	n.t.Helper()
	v, err := n.r.Do(n.t.Context(), args...).Result()
	if err == redis.Nil {
		return "nil"
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}

// tells checks the reply of a Redis command.
func (n *quartet) tells(want string, args ...any) {
	n.t.Helper()
	if got := n.do(args...); got != want {
		n.t.Errorf("%v: %s, want %s", args, got, want)
	}
}

func (n *quartet) declare(queue string, args amqp.Table) {
	n.t.Helper()
	if _, err := n.amqp.ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
		n.t.Fatal(err)
	}
}

func (n *quartet) query(text string, args ...any) {
	n.t.Helper()
	if _, err := n.sql.conn.Exec(n.t.Context(), text, args...); err != nil {
		n.t.Fatal(err)
	}
}

func (n *quartet) publish(exchange, key string, p amqp.Publishing) {
	n.t.Helper()
	c, err := n.amqp.ch.PublishWithDeferredConfirm(exchange, key, false, false, p)
	if err != nil {
		n.t.Fatal(err)
	}
	if ok, err := c.WaitContext(n.t.Context()); !ok || err != nil {
		n.t.Fatalf("not confirmed: %v", err)
	}
}

// get returns the next message of a queue over AMQP, unsettled.
func (n *quartet) get(queue string) amqp.Delivery {
	n.t.Helper()
	d, ok, err := n.amqp.ch.Get(queue, false)
	if err != nil || !ok {
		n.t.Fatalf("nothing in %s: %v", queue, err)
	}
	return d
}

// lease takes the next job of a queue, which stays locked.
func (n *quartet) lease(queue string, options ...any) job {
	n.t.Helper()
	j, ok, err := lease(n.t.Context(), n.r, queue, options...)
	if err != nil || !ok {
		n.t.Fatalf("no job in %s: %v", queue, err)
	}
	return j
}

// sqlBody consumes a message of a queue over SQL and returns its body, or "" if there is none.
func (n *quartet) sqlBody(queue string) string {
	n.t.Helper()
	m, _, err := n.sql.take(n.t.Context(), queue)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(m.body)
}

// eventually waits until ok returns true.
func (n *quartet) eventually(what string, ok func() bool) {
	n.t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			n.t.Fatalf("%s: not within %s", what, patience)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (p *pairs) get(key string) *string {
	if i := slices.Index(p.keys, key); i >= 0 {
		return p.values[i]
	}
	return text("")
}

// header returns the text of a header.
func (m message) header(name string) string {
	for _, h := range m.headers {
		if h.name == name && h.text != nil {
			return *h.text
		}
	}
	return ""
}

// senders returns, by protocol, functions that send a text to the queue q.
func (n *quartet) senders() map[string]func(body string) {
	return map[string]func(body string){
		"amqp": func(body string) { n.publish("", "q", amqp.Publishing{Body: []byte(body)}) },
		"sql": func(body string) {
			n.query("select mbus4.post('q', hstore('body', $1), headers := 'content_type=>text/plain')", body)
		},
		"jobs":  func(body string) { n.do("JOB.ENQUEUE", "q", body) },
		"lists": func(body string) { n.do("LPUSH", "q", body) },
		"etcd":  func(body string) { n.put("/q/q/p/k", body) },
		"http": func(body string) {
			n.may(n.http.do(n.t.Context(), "POST", of("q")+"/messages", map[string]any{"payload": body}, nil))
		},
		"http of RabbitMQ": func(body string) {
			in := map[string]any{"properties": map[string]any{}, "routing_key": "q", "payload": body, "payload_encoding": "string"}
			n.may(n.http.do(n.t.Context(), "POST", "exchanges/%2F/amq.default/publish", in, nil))
		},
	}
}

func (n *quartet) may(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}
