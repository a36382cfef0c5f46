package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// semaphoreWay is a way to access semaphores. Each protocol has one, which has its own file.
type semaphoreWay struct {
	name string
	dial func(ctx context.Context, b *brokertest.Broker) (semaphoreEnd, error)
}

var semaphoreWays = []semaphoreWay{amqpSemaphores, redisSemaphores, goSemaphores, sqlSemaphores, etcdSemaphores, httpSemaphores}

// semaphoreEnd is a client. A change that returns without an error is durable.
type semaphoreEnd interface {
	create(ctx context.Context, key string, active int) error
	enqueue(ctx context.Context, key, task string, priority float64) error
	release(ctx context.Context, key, task string) error
	status(ctx context.Context, key, task string) (string, error) // "" if the task does not exist
	close()
}

// semaphoreWatcher is a client that can receive events without a queue.
type semaphoreWatcher interface {
	// watch returns once it receives everything that happens from then on. next returns the next
	// event as text: the task and the event, or the resulting status if the protocol has no events.
	watch(ctx context.Context, key string) (next func() (string, error), stop func(), err error)
}

// semaphoreSteps are run through each way. After each step all ways must see these statuses of the
// tasks 7 and 8.
var semaphoreSteps = []struct {
	do           func(ctx context.Context, e semaphoreEnd, key string) error
	seven, eight string
}{
	{func(ctx context.Context, e semaphoreEnd, key string) error { return e.enqueue(ctx, key, "7", 1) }, "ACQUIRED", ""},
	{func(ctx context.Context, e semaphoreEnd, key string) error { return e.enqueue(ctx, key, "8", 2.5) }, "TRY_RELEASE", "WAIT"},
	{func(ctx context.Context, e semaphoreEnd, key string) error { return e.enqueue(ctx, key, "8", -1) }, "ACQUIRED", "WAIT"},
	{func(ctx context.Context, e semaphoreEnd, key string) error { return e.release(ctx, key, "7") }, "", "ACQUIRED"},
}

// semaphoreEvents are the events of these steps.
var semaphoreEvents = []string{"7 Acquired", "7 TryRelease", "7 Retained", "8 Acquired"}

// TestSemaphores changes a semaphore through each way, reads it through every other one, and
// receives its events by messages and by watches.
func TestSemaphores(t *testing.T) {
	n := start(t)
	ways := n.semaphoreEnds()
	for _, in := range semaphoreWays {
		t.Run(in.name, func(t *testing.T) {
			ctx := t.Context()
			key := "crowd_" + in.name
			must(t, ways[in.name].create(ctx, key, 1))
			n.bindEvents(t, key)
			watches := watchAll(t, ways, key)
			for i, step := range semaphoreSteps {
				must(t, step.do(ctx, ways[in.name], key))
				seenByAll(t, ways, key, fmt.Sprint("step ", i+1), step.seven, step.eight)
			}
			for _, p := range protocols {
				if got := n.events(t, p.name, key); !slices.Equal(got, semaphoreEvents) {
					t.Errorf("%s hears %q, want %q", p.name, got, semaphoreEvents)
				}
			}
			for name, next := range watches {
				for _, want := range semaphoreEvents {
					got, err := next()
					must(t, err)
					if got != want && got != statusOf(want) {
						t.Errorf("%s is told %q, want %q", name, got, want)
					}
				}
			}
		})
	}
	for _, end := range ways {
		end.close()
	}
	n.restart()
	ways = n.semaphoreEnds()
	for _, in := range semaphoreWays {
		seenByAll(t, ways, "crowd_"+in.name, "restart", "", "ACQUIRED")
	}
}

// statusOf returns an event as text for protocols that report the resulting status.
func statusOf(event string) string {
	return strings.NewReplacer("Acquired", "ACQUIRED", "Retained", "ACQUIRED", "TryRelease", "TRY_RELEASE").Replace(event)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (n *node) semaphoreEnds() map[string]semaphoreEnd {
	n.t.Helper()
	all := map[string]semaphoreEnd{}
	for _, way := range semaphoreWays {
		end, err := way.dial(n.t.Context(), n.b)
		must(n.t, err)
		n.t.Cleanup(end.close)
		all[way.name] = end
	}
	return all
}

// bindEvents declares a queue for events for each protocol.
func (n *node) bindEvents(t *testing.T, key string) {
	t.Helper()
	ch := n.ends["amqp"].(*amqpEnd).ch
	for _, p := range protocols {
		_, err := ch.QueueDeclare(key+"_"+p.name, true, false, false, false, nil)
		must(t, err)
		must(t, ch.QueueBind(key+"_"+p.name, key+".*", "semaphore.events", false, nil))
	}
}

// events returns, as text, all events that a protocol has in its queue.
func (n *node) events(t *testing.T, protocol, key string) (all []string) {
	t.Helper()
	for {
		m, ok, err := n.ends[protocol].take(t.Context(), key+"_"+protocol)
		must(t, err)
		if !ok {
			return all
		}
		var e struct{ Key, Task, Event string }
		if err := json.Unmarshal(m.body, &e); err != nil || e.Key != key {
			t.Errorf("%s has %q: %v", protocol, m.body, err)
		}
		all = append(all, e.Task+" "+e.Event)
	}
}

// watchAll watches a semaphore through every way that can.
func watchAll(t *testing.T, ways map[string]semaphoreEnd, key string) map[string]func() (string, error) {
	t.Helper()
	all := map[string]func() (string, error){}
	for name, way := range ways {
		w, ok := way.(semaphoreWatcher)
		if !ok {
			continue
		}
		next, stop, err := w.watch(t.Context(), key)
		must(t, err)
		t.Cleanup(stop)
		all[name] = next
	}
	return all
}

// seenByAll checks that every way sees these statuses of the tasks 7 and 8.
func seenByAll(t *testing.T, ways map[string]semaphoreEnd, key, when, seven, eight string) {
	t.Helper()
	for name, way := range ways {
		for task, want := range map[string]string{"7": seven, "8": eight} {
			got, err := way.status(t.Context(), key, task)
			if err != nil || got != want {
				t.Errorf("%s: %s sees task %s as %q, %v, want %q", when, name, task, got, err, want)
			}
		}
	}
}

var amqpSemaphores = semaphoreWay{"amqp", dialAMQPSemaphores}

// amqpRequests sends requests with direct reply-to.
type amqpRequests struct {
	conn    *amqp.Connection
	ch      *amqp.Channel
	answers <-chan amqp.Delivery
}

func dialAMQPSemaphores(ctx context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	conn, err := amqp.Dial(b.URL())
	if err != nil {
		return nil, err
	}
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	answers, err := ch.ConsumeWithContext(ctx, "amq.rabbitmq.reply-to", "", true, false, false, false, nil)
	return &amqpRequests{conn, ch, answers}, err
}

func (e *amqpRequests) close() { e.conn.Close() }

// ask sends a request and reads its answer.
func (e *amqpRequests) ask(ctx context.Context, answer any, format string, args ...any) error {
	err := e.ch.PublishWithContext(ctx, "", "amq.semaphore", true, false, amqp.Publishing{
		ReplyTo: "amq.rabbitmq.reply-to", Body: fmt.Appendf(nil, format, args...),
	})
	if err != nil {
		return err
	}
	d, ok := <-e.answers
	var refusal struct{ Error, Reason string }
	switch {
	case !ok:
		return fmt.Errorf("no answer to %s", fmt.Sprintf(format, args...))
	case json.Unmarshal(d.Body, &refusal) != nil || refusal.Error != "":
		return fmt.Errorf("%s", d.Body)
	}
	return json.Unmarshal(d.Body, answer)
}

func (e *amqpRequests) create(ctx context.Context, key string, active int) error {
	return e.ask(ctx, new(any), `{"op":"create","semaphore":%q,"active":%d}`, key, active)
}

func (e *amqpRequests) enqueue(ctx context.Context, key, task string, priority float64) error {
	return e.ask(ctx, new(any), `{"op":"enqueue","semaphore":%q,"task":%q,"priority":%g}`, key, task, priority)
}

func (e *amqpRequests) release(ctx context.Context, key, task string) error {
	return e.ask(ctx, new(any), `{"op":"release","semaphore":%q,"task":%q}`, key, task)
}

func (e *amqpRequests) status(ctx context.Context, key, task string) (string, error) {
	var a struct{ Tasks []struct{ Status string } }
	if err := e.ask(ctx, &a, `{"op":"status","semaphore":%q,"task":%q}`, key, task); err != nil || len(a.Tasks) != 1 {
		return "", fmt.Errorf("%+v: %v", a, err)
	}
	return a.Tasks[0].Status, nil
}
