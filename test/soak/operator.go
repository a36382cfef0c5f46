package soak

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// operator does what people and their tools do with a broker beside its traffic. It lives through
// all lives of the broker.
type operator struct {
	binary string // the fiveways binary
	data   string // the broker's data folder
	spare  string // folder for backups
	every  time.Duration
	vhosts []string // of the loads
	tasks  []task   // done in turn
	n      int      // number of tasks done
	done   map[string]int
}

// task is one kind of work. Its error is a bug of the broker.
type task struct {
	name string
	do   func(context.Context, *brokertest.Broker) error
}

// usual returns the daily tasks of an operator.
func (o *operator) usual() []task {
	return []task{
		{"queues made and deleted", o.queues}, {"users made and deleted", o.users}, {"policies changed", o.policies},
		{"looks at the page", o.look}, {"backups restored", o.backup},
	}
}

// run does the tasks in turn until ctx ends.
func (o *operator) run(ctx context.Context, b *brokertest.Broker) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.every):
		}
		task := o.tasks[o.n%len(o.tasks)]
		o.n++
		if err := task.do(ctx, b); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("%s: %w", task.name, err)
		}
		o.done[task.name]++
	}
}

// queues declares queues, fills them and deletes them.
func (o *operator) queues(_ context.Context, b *brokertest.Broker) error {
	conn, ch, err := dial(b.URL())
	if err != nil {
		return err
	}
	defer conn.Close()
	for i := range 20 {
		name := fmt.Sprintf("soak.brief.%d.%d", o.n, i)
		if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
			return err
		}
		for range 10 {
			m := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: make([]byte, 1000)}
			if err := ch.Publish("", name, false, false, m); err != nil {
				return err
			}
		}
	}
	for i := range 20 {
		if n, err := ch.QueueDelete(fmt.Sprintf("soak.brief.%d.%d", o.n, i), false, false, false); err != nil || n != 10 {
			return fmt.Errorf("%d messages were deleted with a queue of 10: %w", n, err)
		}
	}
	return nil
}

// users creates a user, logs in as that user, deletes it, and checks that the next login is
// refused.
func (o *operator) users(ctx context.Context, b *brokertest.Broker) error {
	name := fmt.Sprint("user", o.n)
	all := map[string]any{"configure": ".*", "write": ".*", "read": ".*"}
	err := ask(ctx, b.HTTPAddr(), http.MethodPut, "/api/users/"+name, map[string]any{"password": name, "tags": ""}, nil)
	if err == nil {
		err = ask(ctx, b.HTTPAddr(), http.MethodPut, "/api/permissions/%2F/"+name, all, nil)
	}
	if err != nil {
		return err
	}
	url := fmt.Sprintf("amqp://%s:%s@%s/%%2f", name, name, b.Addr())
	conn, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	conn.Close()
	if err := ask(ctx, b.HTTPAddr(), http.MethodDelete, "/api/users/"+name, nil, nil); err != nil {
		return err
	}
	var refused *amqp.Error
	if _, err := amqp.Dial(url); !errors.As(err, &refused) || refused.Code != amqp.AccessRefused {
		return fmt.Errorf("a login as a deleted user: %w", err)
	}
	return nil
}

// policies changes the policies of the loads' queues, in ways that break no promise.
func (o *operator) policies(ctx context.Context, b *brokertest.Broker) error {
	definitions := []map[string]any{{"message-ttl": 86_400_000}, {"max-length": 10_000_000}, {"message-ttl": 3_600_000, "queue-mode": "lazy"}}
	for i, vhost := range o.vhosts {
		policy := map[string]any{"pattern": "^crash", "apply-to": "queues", "definition": definitions[(o.n+i)%len(definitions)]}
		if err := ask(ctx, b.HTTPAddr(), http.MethodPut, "/api/policies/"+vhost+"/soak", policy, nil); err != nil {
			return err
		}
	}
	return nil
}

// look requests what the web page shows.
func (o *operator) look(ctx context.Context, b *brokertest.Broker) error {
	for _, path := range []string{"/api/overview", "/api/queues", "/api/connections", "/api/exchanges", "/api/nodes"} {
		if err := ask(ctx, b.HTTPAddr(), http.MethodGet, path, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

const keptQueue = "soak.kept"

// backup publishes a message, makes a backup after its confirm, restores it, and checks that a
// broker on the restored folder has the message.
func (o *operator) backup(ctx context.Context, b *brokertest.Broker) error {
	text := fmt.Sprint("kept ", o.n)
	if err := keep(ctx, b.URL(), text); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.spare, "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	archive, restored := filepath.Join(dir, "tar"), filepath.Join(dir, "data")
	for _, args := range [][]string{{"backup", archive, "--data", o.data}, {"restore", archive, restored}, {"doctor", restored}} {
		if out, err := exec.CommandContext(ctx, o.binary, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
	}
	other, err := brokertest.Start(ctx, restored)
	if err != nil {
		return err
	}
	defer other.Kill()
	return kept(other.URL(), text)
}

// keep makes this message the only one in the queue of kept messages, and waits for its confirm.
func keep(ctx context.Context, url, text string) error {
	conn, ch, err := dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := ch.QueueDeclare(keptQueue, true, false, false, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueuePurge(keptQueue, false); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	sent, err := ch.PublishWithDeferredConfirm("", keptQueue, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(text)})
	if err != nil {
		return err
	}
	if ok, err := sent.WaitContext(ctx); err != nil || !ok {
		return fmt.Errorf("no confirm: %w", err)
	}
	return nil
}

// kept returns an error if the message is not in the queue of kept messages.
func kept(url, text string) error {
	conn, ch, err := dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	d, ok, err := ch.Get(keptQueue, true)
	if err == nil && (!ok || string(d.Body) != text) {
		err = fmt.Errorf("a backup has %q, not %q, which was confirmed before it", d.Body, text)
	}
	return err
}
