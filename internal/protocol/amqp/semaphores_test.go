package amqp

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
)

// startSemaphores is a node with semaphores.
func startSemaphores(t testing.TB) *node {
	t.Helper()
	m := semaphores.New(semaphores.Options{})
	n := startNode(t, Options{Shared: protocol.Shared{Semaphores: m, LoginDelay: -1}}, broker.Options{StateMachines: protocoltest.Machines(m, nil)})
	if err := m.Start(n.b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	return n
}

// listen starts the consumer of direct replies on a channel.
func (c *client) listen(channel uint16) {
	c.t.Helper()
	c.open(channel)
	c.call(channel, &amqpwire.BasicConsume{Queue: replyQueue, ConsumerTag: "r", NoAck: true}, &amqpwire.BasicConsumeOk{ConsumerTag: "r"})
}

// request publishes a request that wants a direct reply.
func (c *client) request(channel uint16, id, body string) {
	c.t.Helper()
	c.publish(channel, "", semaphoreQueue, true, message.Properties{
		Flags: message.HasReplyTo | message.HasCorrelationID, ReplyTo: replyQueue, CorrelationID: id,
	}, body)
}

var times = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"`)

// answer reads the answer to a request, with times as T.
func (c *client) answer(channel uint16, id string) string {
	c.t.Helper()
	expect[*amqpwire.BasicDeliver](c, channel)
	p, body := c.content()
	if p.CorrelationID != id || p.ContentType != "application/json" {
		c.t.Errorf("answer %s has the properties %+v, want %s", body, p, id)
	}
	return times.ReplaceAllString(body, "T")
}

// asks sends a request and reads its answer, which must be want.
func (c *client) asks(channel uint16, body, want string) {
	c.t.Helper()
	c.request(channel, body[:min(len(body), 40)], body)
	if got := c.answer(channel, body[:min(len(body), 40)]); got != want {
		c.t.Errorf("%s\nis answered %s\nwant        %s", body, got, want)
	}
}

func TestSemaphoreRequests(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.listen(1)
	sem := func(active, waiting, acquired, asked int) string {
		return fmt.Sprintf(`{"vhost":"/","key":"k","active":%d,"try_release":900,"order":"desc","lease":0,"waiting":%d,"acquired":%d,"try_release_asked":%d}`,
			active, waiting, acquired, asked)
	}
	task := func(id, status string, priority float64, position int) string {
		return fmt.Sprintf(`{"task":"%s","status":"%s","priority":%g,"position":%d,"enqueued":T,"lease":0,"expires":null}`, id, status, priority, position)
	}
	for _, step := range [][2]string{
		{`{"op":"show","semaphore":"k"}`, `{"error":"not_found","reason":"semaphore 'k': no such semaphore"}`},
		{`{"op":"set","semaphore":"k"}`, `{"error":"not_found","reason":"semaphore 'k': no such semaphore"}`},
		{`{"op":"list"}`, `{"ok":true,"semaphores":[]}`},
		{`{"op":"create","semaphore":"k","active":2}`, `{"ok":true,"created":true,"semaphore":` + sem(2, 0, 0, 0) + `}`},
		{`{"op":"create","semaphore":"k","active":3}`, `{"ok":true,"semaphore":` + sem(2, 0, 0, 0) + `}`},
		{`{"op":"enqueue","semaphore":"k","task":"a","priority":1}`, `{"ok":true,"added":1,"tasks":[` + task("a", "ACQUIRED", 1, 1) + `]}`},
		{`{"op":"enqueue","semaphore":"k","tasks":[{"task":2,"priority":2},{"task":"c","priority":3}]}`,
			`{"ok":true,"added":2,"tasks":[` + task("2", "WAIT", 2, 2) + `,` + task("c", "ACQUIRED", 3, 1) + `]}`},
		{`{"op":"status","semaphore":"k","tasks":["a","none"]}`, `{"ok":true,"tasks":[` + task("a", "TRY_RELEASE", 1, 3) + `,{"task":"none","status":null}]}`},
		{`{"op":"show","semaphore":"k"}`, `{"ok":true,"semaphore":` + sem(2, 1, 1, 1) + `}`},
		{`{"op":"tasks","semaphore":"k","limit":2}`, `{"ok":true,"tasks":[` + task("c", "ACQUIRED", 3, 1) + `,` + task("2", "WAIT", 2, 2) + `],"next":3}`},
		{`{"op":"tasks","semaphore":"k","from":3}`, `{"ok":true,"tasks":[` + task("a", "TRY_RELEASE", 1, 3) + `]}`},
		{`{"op":"renew","semaphore":"k","tasks":["a",2]}`, `{"ok":true,"renewed":["a"]}`},
		{`{"op":"delete","semaphore":"k","if_empty":true}`, `{"error":"conflict","reason":"semaphore 'k': the semaphore has tasks"}`},
		{`{"op":"set","semaphore":"k","order":"asc"}`, `{"error":"conflict","reason":"semaphore 'k': the order cannot change while there are tasks"}`},
		{`{"op":"release","semaphore":"k","tasks":["a","none"]}`, `{"ok":true,"released":["a"]}`},
		{`{"op":"status","semaphore":"k","task":2}`, `{"ok":true,"tasks":[` + task("2", "ACQUIRED", 2, 2) + `]}`},
		{`{"op":"set","semaphore":"k","active":1}`, `{"ok":true,"semaphore":` + sem(1, 0, 1, 1) + `}`},
		{`{"op":"list","contains":"k"}`, `{"ok":true,"semaphores":[` + sem(1, 0, 1, 1) + `]}`},
		{`{"op":"list","contains":"x"}`, `{"ok":true,"semaphores":[]}`},
		{`{"op":"delete","semaphore":"k"}`, `{"ok":true,"deleted":true}`},
		{`{"op":"delete","semaphore":"k"}`, `{"ok":true,"deleted":false}`},
		{`nonsense`, `{"error":"bad_request","reason":"semaphore '': invalid value of request: invalid character 'o' in literal null (expecting 'u')"}`},
	} {
		c.asks(1, step[0], step[1])
	}
}

// TestSemaphoreRequestsTogether checks that requests of one write are answered in order, with
// confirms, and before other methods are executed.
func TestSemaphoreRequestsTogether(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.listen(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	c.asks(1, `{"op":"create","semaphore":"k","active":1}`, `{"ok":true,"created":true,"semaphore":{"vhost":"/","key":"k","active":1,"try_release":900,"order":"desc","lease":0,"waiting":0,"acquired":0,"try_release_asked":0}}`)
	expect[*amqpwire.BasicAck](c, 1)
	props := message.Properties{Flags: message.HasReplyTo | message.HasCorrelationID, ReplyTo: replyQueue}
	var burst []byte
	const many = 500
	for i := range many {
		props.CorrelationID = fmt.Sprint(i)
		op := `{"op":"enqueue","semaphore":"k","task":%d,"priority":1}`
		if i%2 == 1 {
			op = `{"op":"release","semaphore":"k","task":%d}`
		}
		burst = amqpwire.AppendPublish(burst, 1, "", semaphoreQueue, false, props.Append(nil), fmt.Appendf(nil, op, i/2), 4096)
	}
	burst = amqpwire.AppendMethodFrame(burst, 1, &amqpwire.QueueDeclare{Queue: "after"})
	c.write(burst)
	next, confirmed, declared := 0, uint64(1), false
	for next < many || confirmed < many+1 || !declared {
		switch _, m := c.method(); m := m.(type) {
		case *amqpwire.BasicDeliver:
			p, body := c.content()
			var got struct {
				Tasks    []struct{ Status string }
				Released []string
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || p.CorrelationID != fmt.Sprint(next) || declared ||
				next%2 == 0 && (len(got.Tasks) != 1 || got.Tasks[0].Status != "ACQUIRED") || next%2 == 1 && len(got.Released) != 1 {
				t.Fatalf("answer %s of %q, want %d: %v", body, p.CorrelationID, next, err)
			}
			next++
		case *amqpwire.BasicAck:
			confirmed = m.DeliveryTag
		case *amqpwire.QueueDeclareOk:
			declared = true
		default:
			t.Fatalf("%T %+v", m, m)
		}
	}
}

// TestSemaphoreConfirms checks that, without reply-to, the confirm shows whether the request
// succeeded.
func TestSemaphoreConfirms(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.open(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	say := func(body string) { c.publish(1, "", semaphoreQueue, true, message.Properties{}, body) }
	say(`{"op":"enqueue","semaphore":"k","task":1,"priority":1}`)
	if m := expect[*amqpwire.BasicNack](c, 1); m.DeliveryTag != 1 {
		t.Errorf("%+v", m)
	}
	say(`{"op":"create","semaphore":"k"}`)
	if m := expect[*amqpwire.BasicAck](c, 1); m.DeliveryTag != 2 {
		t.Errorf("%+v", m)
	}
	say(`{"op":`)
	if m := expect[*amqpwire.BasicNack](c, 1); m.DeliveryTag != 3 {
		t.Errorf("%+v", m)
	}
}

// TestSemaphoreAnswersInQueues checks that reply-to may be any queue, and that the answer is as
// persistent as the request.
func TestSemaphoreAnswersInQueues(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "answers", Durable: true})
	for _, mode := range []uint8{message.Transient, message.Persistent} {
		c.publish(1, "", semaphoreQueue, false, message.Properties{
			Flags: message.HasReplyTo | message.HasDeliveryMode, ReplyTo: "answers", DeliveryMode: mode,
		}, `{"op":"delete","semaphore":"none"}`)
		c.send(1, &amqpwire.BasicGet{Queue: "answers", NoAck: true})
		expect[*amqpwire.BasicGetOk](c, 1)
		p, body := c.content()
		if body != `{"ok":true,"deleted":false}` || (p.DeliveryMode == message.Persistent) != (mode == message.Persistent) || p.Has(message.HasCorrelationID) {
			t.Errorf("%s %+v", body, p)
		}
	}
	for _, nobody := range []string{"no such queue", semaphoreQueue, replyPrefix + "nobody"} {
		c.publish(1, "", semaphoreQueue, false, message.Properties{Flags: message.HasReplyTo, ReplyTo: nobody}, `{"op":"list"}`)
	}
	c.call(1, &amqpwire.QueueDeclare{Queue: "answers", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "answers"})
}

// TestSemaphoreQueueIsNone checks that the queue passes a passive declare, and that all other
// methods refuse it.
func TestSemaphoreQueueIsNone(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	const refused = "403 ACCESS_REFUSED - operation not permitted on queue 'amq.semaphore' in vhost '/': it only takes requests"
	for _, m := range []amqpwire.Method{
		&amqpwire.BasicConsume{Queue: semaphoreQueue}, &amqpwire.BasicGet{Queue: semaphoreQueue}, &amqpwire.QueuePurge{Queue: semaphoreQueue},
		&amqpwire.QueueDelete{Queue: semaphoreQueue}, &amqpwire.QueueBind{Queue: semaphoreQueue, Exchange: "amq.topic"},
		&amqpwire.QueueUnbind{Queue: semaphoreQueue, Exchange: "amq.topic"}, &amqpwire.BasicGet{},
	} {
		c.open(1)
		c.call(1, &amqpwire.QueueDeclare{Queue: semaphoreQueue, Passive: true}, &amqpwire.QueueDeclareOk{Queue: semaphoreQueue, ConsumerCount: 1})
		c.send(1, m)
		if got := c.channelClosed(1); got != refused {
			t.Errorf("%T: %s", m, got)
		}
	}
	c.open(1)
	c.send(1, &amqpwire.QueueDeclare{Queue: semaphoreQueue})
	if got := c.channelClosed(1); got != "403 ACCESS_REFUSED - queue name 'amq.semaphore' contains reserved prefix 'amq.*'" {
		t.Error(got)
	}
	c.open(1)
	c.request(1, "1", `{"op":"list"}`)
	if got := c.channelClosed(1); got != "406 PRECONDITION_FAILED - fast reply consumer does not exist" {
		t.Error(got)
	}
	c.open(1)
	c.publish(1, "", semaphoreQueue, false, message.Properties{Flags: message.HasUserID, UserID: "eve"}, `{"op":"list"}`)
	if got := c.channelClosed(1); !strings.HasPrefix(got, "406 PRECONDITION_FAILED - user_id property set to 'eve'") {
		t.Error(got)
	}
}

// TestSemaphoreTransactions checks that requests, publishes and acknowledgements of a transaction
// succeed together or not at all.
func TestSemaphoreTransactions(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.listen(1)
	c.listen(2)
	c.call(2, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	c.declare(1, amqpwire.QueueDeclare{Queue: "q", Durable: true})
	ready := func(want uint32) {
		t.Helper()
		if got := c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}).MessageCount; got != want {
			t.Errorf("%d messages, want %d", got, want)
		}
	}
	status := func(want string) {
		t.Helper()
		c.request(1, "s", `{"op":"status","semaphore":"k","task":"a"}`)
		if got := c.answer(1, "s"); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.request(1, "c", `{"op":"create","semaphore":"k"}`)
	c.answer(1, "c")

	work := func(semaphore string) {
		c.publish(2, "", "q", false, message.Properties{}, "result")
		c.request(2, "1", `{"op":"enqueue","semaphore":"k","task":"a","priority":1}`)
		c.request(2, "2", `{"op":"status","semaphore":"`+semaphore+`","task":"a"}`)
		c.request(2, "3", `{"op":"list"}`)
		status(`"status":null`)
		ready(0)
	}
	work("k")
	c.call(2, &amqpwire.TxRollback{}, &amqpwire.TxRollbackOk{})
	status(`"status":null`)

	work("none") // which makes the whole transaction fail
	c.send(2, &amqpwire.TxCommit{})
	if got := c.channelClosed(2); got != "404 NOT_FOUND - semaphore 'none': no such semaphore" {
		t.Error(got)
	}
	status(`"status":null`)
	ready(0)

	c.listen(2)
	c.call(2, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	c.request(2, "x", `{"op":"shout"}`)
	if got := c.channelClosed(2); got != `406 PRECONDITION_FAILED - semaphore '': invalid value of op: there is no "shout"` {
		t.Error(got)
	}

	c.listen(2)
	c.call(2, &amqpwire.TxSelect{}, &amqpwire.TxSelectOk{})
	work("k")
	c.send(2, &amqpwire.TxCommit{})
	for i, want := range []string{`"added":1`, `"ACQUIRED"`, `"acquired":1`} {
		if got := c.answer(2, fmt.Sprint(i+1)); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect[*amqpwire.TxCommitOk](c, 2)
	status(`"ACQUIRED"`)
	ready(1)
}

// TestSemaphorePermissions checks that a request, as a publish to the default exchange, needs the
// permissions of its operation.
func TestSemaphorePermissions(t *testing.T) {
	n := startSemaphores(t)
	c := n.login()
	c.listen(1)
	c.request(1, "c", `{"op":"create","semaphore":"k"}`)
	c.answer(1, "c")
	n.user("worker", catalog.Permission{VHost: "/", Configure: "^$", Write: "^(amq.default|k)$", Read: "^$"})
	w := n.dial()
	w.user = "worker"
	w.login()
	w.listen(1)
	w.asks(1, `{"op":"release","semaphore":"k","task":"a"}`, `{"ok":true,"released":[]}`)
	for _, c := range []struct{ body, reason string }{
		{`{"op":"show","semaphore":"k"}`, "read access to semaphore 'k' in vhost '/' refused for user 'worker'"},
		{`{"op":"delete","semaphore":"k"}`, "configure access to semaphore 'k' in vhost '/' refused for user 'worker'"},
		{`{"op":"release","semaphore":"x","task":"a"}`, "write access to semaphore 'x' in vhost '/' refused for user 'worker'"},
	} {
		w.asks(1, c.body, `{"error":"access_refused","reason":"`+c.reason+`"}`)
	}
	w.asks(1, `{"op":"list"}`, `{"ok":true,"semaphores":[]}`)
}

// TestSemaphoresAndAFailedLog checks that a request that was not logged gets an error, and is never
// confirmed.
func TestSemaphoresAndAFailedLog(t *testing.T) {
	n := startSemaphores(t)
	n.failed = true
	c := n.login()
	c.listen(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	n.disk.FailSync(errors.New("a broken disk"))
	c.asks(1, `{"op":"create","semaphore":"k"}`, `{"error":"internal_error","reason":"the log has failed and takes no more writes"}`)
	expect[*amqpwire.BasicNack](c, 1)
}
