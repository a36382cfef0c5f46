package cli

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
)

// TestCommandsRouteBySQL checks that a message that falls due while a command has the folder open
// is routed by SQL conditions too.
func TestCommandsRouteBySQL(t *testing.T) {
	dir := t.TempDir()
	open := func(now func() time.Time) (*broker.Broker, *broker.Session) {
		t.Helper()
		b := enginetest.OpenFolder(t, dir, func(o *broker.Options) { o.Conditions, o.Now = pgwire.Conditions(), now })
		s, err := b.Operate("/")
		must(t, err)
		return b, s
	}
	finish := func(b *broker.Broker, s *broker.Session) {
		t.Helper()
		s.Close()
		enginetest.Close(t, b)
	}
	b, s := open(func() time.Time { return time.Now().Add(-time.Hour) })
	var d broker.Definitions
	d.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()})
	d.DeclareExchange(catalog.ExchangeSpec{
		Name: "late", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
	})
	d.Bind(catalog.BindSpec{Source: "late", Destination: "q", Args: message.Table{{Name: "x-sql-selector", Value: "t.data->'body' = 'wanted'"}}})
	must(t, s.Define(&d))
	props := (&message.Properties{
		Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: message.Persistent, Headers: message.Table{{Name: "x-delay", Value: int32(60_000)}},
	}).Append(nil)
	tx := s.NewTx()
	for _, body := range []string{"wanted", "unwanted"} {
		peek, err := message.PeekProperties(props)
		must(t, err)
		targets, err := s.Route([]byte("late"), nil, &peek, nil)
		must(t, err)
		env := append(message.AppendEnvelopeHeader(nil, "late", "", props), body...)
		tx.Publish(&shard.Publish{Targets: targets, Env: env, Persistent: true, TTL: -1})
	}
	must(t, tx.Commit())
	finish(b, s)
	if code, out := operateOn(t, dir, "", "vhost", "list"); code != exitcode.OK {
		t.Fatalf("exit code %d, %s", code, out)
	}
	b, s = open(time.Now)
	var got []shard.Delivery
	var err error
	for start := time.Now(); len(got) == 0 && err == nil && time.Since(start) < 10*time.Second; {
		got, err = loans.Fetch(s, "q", 9, nil)
	}
	if err != nil || len(got) != 1 || string(got[0].Env.Body()) != "wanted" {
		t.Errorf("got %d messages, %v", len(got), err)
	}
	finish(b, s)
}
