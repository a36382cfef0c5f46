package migrate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/rabbitmq"
)

// The number of messages before the migration, and during it.
const (
	stock   = 3000
	traffic = 1500
)

// TestKilledMigration checks that a migration that is killed repeatedly while others publish loses
// nothing: once the last publisher has finished and a run has completed, each message is in the
// broker, and nothing of the migration is left there.
func TestKilledMigration(t *testing.T) {
	r := daemon.ForTest(t, openRabbit, rabbitmq.ErrNone)
	b := brokertest.Run(t, "--http", "127.0.0.1:0")
	for _, d := range []struct{ path, body string }{
		{"vhosts/killed", `{}`},
		{"permissions/killed/guest", `{"configure":".*","write":".*","read":".*"}`},
		{"queues/killed/a", `{"durable":true}`},
		{"queues/killed/b", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`},
	} {
		if _, err := ask(r.http, http.MethodPut, "/api/"+d.path, d.body); err != nil {
			t.Fatal(err)
		}
	}
	send := func(from, n int) error {
		c, err := amqp.DialConfig("amqp://guest:guest@"+r.amqp, amqp.Config{Vhost: "killed"})
		if err != nil {
			return err
		}
		defer c.Close()
		ch, err := c.Channel()
		if err != nil {
			return err
		}
		if err := ch.Confirm(false); err != nil {
			return err
		}
		var last *amqp.DeferredConfirmation
		for i := from; i < from+n; i++ {
			p := amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: fmt.Sprint(i)}
			if last, err = ch.PublishWithDeferredConfirm("", []string{"a", "b"}[i%2], true, false, p); err != nil {
				return err
			}
			if i%250 == 249 && !last.Wait() { // spreads them over the runs
				return fmt.Errorf("message %d is refused", i)
			}
		}
		if !last.Wait() {
			return fmt.Errorf("the last message is refused")
		}
		return nil
	}
	if err := send(0, stock); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- send(stock, traffic) }()

	migrate := func(ctx context.Context) ([]byte, error) {
		return exec.CommandContext(ctx, brokertest.Binary(t), "migrate", "rabbitmq", "--from", "amqp://guest@"+r.amqp, "--management", "http://guest@"+r.http,
			"--to", "amqp://"+b.Addr(), "--url", "http://guest@"+b.HTTPAddr(), "--vhost", "killed").CombinedOutput()
	}
	random := rand.New(rand.NewPCG(3, 4))
	kills := 0
	for done := false; !done; {
		// Each run gets more time, so that the test ends on a slow machine too.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(100*(kills+1)+random.IntN(200))*time.Millisecond)
		out, err := migrate(ctx)
		if killed := ctx.Err() != nil; err != nil && !killed {
			t.Fatalf("%v: %s", err, out)
		}
		cancel()
		if done = err == nil; !done {
			kills++
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if out, err := migrate(t.Context()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if kills == 0 {
		t.Error("nothing was killed: there are too few messages")
	}
	t.Logf("killed %d times", kills)

	seen := map[string]bool{}
	ch := channel(t, b.Addr(), "guest", "guest", "killed")
	for _, queue := range []string{"a", "b"} {
		for {
			d, ok, err := ch.Get(queue, true)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			seen[d.MessageId] = true
		}
		if left, err := channel(t, r.amqp, "guest", "guest", "killed").QueueDeclarePassive(queue, true, false, false, false, nil); err != nil || left.Messages != 0 {
			t.Errorf("%s at the source: %d messages, %v", queue, left.Messages, err)
		}
	}
	if len(seen) != stock+traffic {
		t.Errorf("%d messages have come, want %d", len(seen), stock+traffic)
	}
	for _, path := range []string{"/api/users", "/api/exchanges/" + url.PathEscape("killed")} {
		if all, err := ask(b.HTTPAddr(), http.MethodGet, path, ""); err != nil || strings.Contains(string(all), "fiveways-migrate") {
			t.Errorf("%s: %v, %s", path, err, all)
		}
	}
}
