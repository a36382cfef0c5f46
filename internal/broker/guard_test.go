package broker

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// route publishes nothing: it only routes.
func route(c *client, exchange, key string) error {
	_, err := c.Route([]byte(exchange), []byte(key), &message.Peek{}, nil)
	return err
}

// brokerWithUser has a user u with a permission in "/".
func brokerWithUser(t *testing.T, p Permission) (*Broker, *client) {
	t.Helper()
	b := openBroker(t, vfs.NewMem(), nil)
	t.Cleanup(func() { mustClose(t, b) })
	must(t, put1(b.PutUser(UserSpec{Name: "u", Hash: hashOfP})))
	p.User, p.VHost = "u", "/"
	must(t, put1(b.SetPermission(p)))
	return b, newClientOn(t, b, "u", "/")
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestPublishPermissionFollowsChanges publishes repeatedly while the permission changes.
func TestPublishPermissionFollowsChanges(t *testing.T) {
	b, c := brokerWithUser(t, Permission{Write: "^amq\\.(default|direct|topic)$"})
	wantErr(t, "default", route(c, "", "q"), nil)
	wantErr(t, "again", route(c, "", "q"), nil)
	wantErr(t, "other", route(c, "amq.fanout", "q"), ErrAccessRefused)
	wantErr(t, "refused after it was allowed", route(c, "amq.fanout", "q"), ErrAccessRefused)
	wantErr(t, "allowed after it was refused", route(c, "", "q"), nil)
	wantErr(t, "back and forth", route(c, "amq.direct", "q"), nil)

	must(t, put1(b.SetPermission(Permission{User: "u", VHost: "/", Write: "fanout"})))
	wantErr(t, "taken away", route(c, "amq.direct", "q"), ErrAccessRefused)
	wantErr(t, "given", route(c, "amq.fanout", "q"), nil)
	must(t, put1(b.SetPermission(Permission{User: "u", VHost: "/", Write: ".*"})))
	wantErr(t, "everything", route(c, "amq.direct", "q"), nil)
	wantErr(t, "not there", route(c, "nope", "q"), ErrExchangeNotFound)

	must(t, put1(b.SetTopicPermission(TopicPermission{User: "u", VHost: "/", Exchange: "amq.topic", Write: "^{username}\\.", Read: ""})))
	wantErr(t, "own topic", route(c, "amq.topic", "u.x"), nil)
	wantErr(t, "other's topic", route(c, "amq.topic", "v.x"), ErrAccessRefused)
	wantErr(t, "own topic again", route(c, "amq.topic", "u.x"), nil)
	wantErr(t, "no topic exchange", route(c, "amq.direct", "v.x"), nil)
	wantErr(t, "bind", c.Bind(BindSpec{Source: "amq.topic", Destination: "amq.fanout", ToExchange: true, Key: "x"}), ErrAccessRefused)
	must(t, b.DeleteTopicPermission("u", "/", ""))
	wantErr(t, "unrestricted", route(c, "amq.topic", "v.x"), nil)

	must(t, b.DeletePermission("u", "/"))
	wantErr(t, "no permission at all", route(c, "", "q"), ErrAccessRefused)
	wantErr(t, "enter", c.MayEnter(), ErrVHostRefused)
}

// TestConsumersGoOn: a consumer that lost the read permission keeps what it has, as in RabbitMQ.
func TestConsumersGoOn(t *testing.T) {
	b, c := brokerWithUser(t, Permission{Configure: ".*", Write: ".*", Read: ".*"})
	c.queue("q", nil)
	c.consume("q", func(s *shard.ConsumerSpec) { s.NoAck = true })
	must(t, put1(b.SetPermission(Permission{User: "u", VHost: "/", Write: ".*"})))
	c.put("", "q", "m", nil)
	sameStrings(t, bodies(c.take(1)), "m")
	_, err := c.Consume(shard.ConsumerSpec{Queue: "q"})
	wantErr(t, "a second consumer", err, ErrAccessRefused)
}

// TestDeadLettersNeedNoPermission: permission was checked when the queue was declared.
func TestDeadLettersNeedNoPermission(t *testing.T) {
	b, c := brokerWithUser(t, Permission{Configure: ".*", Write: ".*", Read: ".*"})
	c.queue("dead", nil)
	c.queue("q", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
	})
	c.put("", "q", "m", nil)
	must(t, put1(b.SetPermission(Permission{User: "u", VHost: "/", Read: ".*"})))
	d, _, _, err := c.Get("q", false)
	must(t, err)
	c.Reject(d.Queue, nil, d.Handle, 1)
	c.Flush()
	settleDead(t, c, b)
	sameStrings(t, c.drain("dead"), "m")
}

// TestOutside has a user without permission in the virtual host, through a protocol that admits it:
// the user counts, may do nothing there, and is evicted when deleted.
func TestOutside(t *testing.T) {
	b, c := brokerWithUser(t, Permission{Configure: ".*", Write: ".*", Read: ".*"})
	c.queue("q", nil)
	must(t, put1(b.PutUser(UserSpec{Name: "outsider", Password: "p"})))
	must(t, b.SetUserLimit("outsider", LimitConnections, 1))
	gone := make(chan error, 1)
	o := SessionOptions{User: "outsider", VHost: "/", Outside: true, Evict: func(reason error) { gone <- reason }}
	s, err := b.NewSession(o)
	must(t, err)
	_, err = b.NewSession(o)
	wantErr(t, "a second one", err, ErrUserConnections)
	wantErr(t, "enter", s.MayEnter(), ErrVHostRefused)
	wantErr(t, "read", s.MayRead("q"), ErrAccessRefused)
	wantErr(t, "configure", s.MayConfigure("queue", "q2"), ErrAccessRefused)
	wantErr(t, "publish", s.MayPublish(nil), ErrAccessRefused)
	must(t, b.DeleteUser("outsider"))
	wantErr(t, "evicted", <-gone, ErrUserDeleted)
	s.Close()
}

func TestLimits(t *testing.T) {
	b, c := brokerWithUser(t, Permission{Configure: ".*", Write: ".*", Read: ".*"})
	enter := func(user, vhost string) (*Session, error) {
		return b.NewSession(SessionOptions{User: user, VHost: vhost, Sink: c})
	}
	refusedEntry := func(what, user, vhost string, want error) {
		t.Helper()
		_, err := enter(user, vhost)
		wantErr(t, what, err, want)
	}
	must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
	refusedEntry("no permission", "u", "v", ErrVHostRefused)
	refusedEntry("no virtual host", "u", "w", ErrVHostNotFound)
	refusedEntry("no user", "w", "/", ErrVHostRefused)

	must(t, b.SetVHostLimit("/", LimitConnections, 2))
	second, err := enter("u", "/")
	must(t, err)
	must(t, b.SetUserLimit("u", LimitConnections, 2))
	refusedEntry("the virtual host is asked first", "u", "/", ErrVHostConnections)
	must(t, b.SetVHostLimit("/", LimitConnections, -1))
	refusedEntry("the user", "u", "/", ErrUserConnections)
	refusedEntry("the user, before its permission", "u", "v", ErrUserConnections)
	second.Close()
	second.Close()
	second, err = enter("u", "/")
	must(t, err)

	must(t, b.SetUserLimit("u", LimitChannels, 2))
	must(t, c.OpenChannel())
	must(t, second.OpenChannel())
	wantErr(t, "third channel", c.OpenChannel(), ErrUserChannels)
	second.Close() // with its channel
	must(t, c.OpenChannel())
	c.CloseChannel()
	must(t, c.OpenChannel())
	must(t, b.ClearUserLimit("u", LimitChannels))
	must(t, c.OpenChannel())

	must(t, b.SetVHostLimit("/", LimitQueues, 1))
	c.queue("q1", nil)
	c.queue("q1", nil) // exists already
	spec := QueueSpec{Name: "q2", Exclusive: true, Policy: DefaultQueuePolicy()}
	_, err = c.DeclareQueue(spec)
	wantErr(t, "queue", err, ErrQueueLimit)
	_, err = c.DeleteQueue("q1", false, false)
	must(t, err)
	_, err = c.DeclareQueue(spec)
	must(t, err)
	if v, _ := b.VHost("/"); v.Queues != 1 || v.Limits[LimitQueues] != 1 {
		t.Errorf("%+v", v)
	}
	must(t, b.ClearVHostLimit("/", LimitQueues))
	c.queue("q3", nil)
	wantErr(t, "a user's limit", b.SetVHostLimit("/", LimitChannels, 1), ErrInvalidLimit)
	wantErr(t, "a virtual host's limit", b.SetUserLimit("u", LimitQueues, 1), ErrInvalidLimit)
}

// TestDeletedVHostTakesNoDefinitions: a session that is still open must not write into a new
// virtual host with the same name.
func TestDeletedVHostTakesNoDefinitions(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	fresh := func() *client {
		must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
		must(t, put1(b.SetPermission(Permission{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"})))
		return newClientOn(t, b, "guest", "v")
	}
	c := fresh()
	c.queue("q", func(s *QueueSpec) { s.AutoDelete = true })
	c.queue("mine", func(s *QueueSpec) { s.Durable, s.Exclusive = false, true })
	k := c.consume("q", nil)
	must(t, b.DeleteVHost("v"))
	d := fresh()
	_, err := c.DeclareQueue(QueueSpec{Name: "late", Durable: true, Policy: DefaultQueuePolicy()})
	wantErr(t, "declare", err, ErrVHostNotFound)
	wantErr(t, "declare exchange", c.DeclareExchange(ExchangeSpec{Name: "x", Type: "direct", Durable: true}), ErrVHostNotFound)
	wantErr(t, "bind", c.Bind(BindSpec{Source: "amq.topic", Destination: "amq.fanout", ToExchange: true}), ErrVHostNotFound)
	_, err = c.Consume(shard.ConsumerSpec{Queue: "q"})
	wantErr(t, "consume", err, ErrQueueNotFound)
	c.until(func() bool { return len(c.cancelled) == 1 && c.cancelled[0] == k })
	c.Close()
	if v, _ := b.VHost("v"); v.Queues != 0 || b.Stats().Queues != 0 {
		t.Errorf("%+v, %d queues", v, b.Stats().Queues)
	}
	d.queue("q", nil)
	if bindings := b.catalogOf(t, "v"); bindings != 0 {
		t.Errorf("%d bindings", bindings)
	}
}

// catalogOf returns the number of bindings of a virtual host.
func (b *Broker) catalogOf(t *testing.T, vhost string) (n int) {
	v, ok := b.vhost(vhost)
	if !ok {
		t.Fatalf("no %s", vhost)
	}
	for range v.Table().Bindings() {
		n++
	}
	return n
}

func TestEviction(t *testing.T) {
	b, _ := brokerWithUser(t, Permission{})
	must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
	must(t, put1(b.SetPermission(Permission{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"})))
	evicted := map[string]error{}
	for _, who := range [][2]string{{"u", "/"}, {"guest", "/"}, {"guest", "v"}} {
		_, err := b.NewSession(SessionOptions{User: who[0], VHost: who[1], Evict: func(err error) { evicted[who[0]+who[1]] = err }})
		must(t, err)
	}
	must(t, b.DeleteVHost("v"))
	must(t, b.DeleteUser("u"))
	if len(evicted) != 2 || !errors.Is(evicted["guestv"], ErrVHostDeleted) || !errors.Is(evicted["u/"], ErrUserDeleted) {
		t.Errorf("%v", evicted)
	}
	wantErr(t, "again", b.DeleteUser("u"), ErrUserNotFound)
	wantErr(t, "again", b.DeleteVHost("v"), ErrVHostNotFound)
}

func TestPermissionsRefuse(t *testing.T) {
	b, _ := brokerWithUser(t, Permission{})
	for _, c := range []struct {
		p    Permission
		want error
	}{
		{Permission{User: "u", VHost: "/", Configure: "("}, ErrInvalidPattern},
		{Permission{User: "u", VHost: "/", Write: "[x"}, ErrInvalidPattern},
		{Permission{User: "nobody", VHost: "/"}, ErrUserNotFound},
		{Permission{User: "u", VHost: "nowhere"}, ErrVHostNotFound},
	} {
		wantErr(t, "permission", put1(b.SetPermission(c.p)), c.want)
		wantErr(t, "topic permission", put1(b.SetTopicPermission(TopicPermission{User: c.p.User, VHost: c.p.VHost, Exchange: "x", Write: c.p.Configure, Read: c.p.Write})), c.want)
	}
	wantErr(t, "delete", b.DeletePermission("nobody", "/"), ErrUserNotFound)
	wantErr(t, "delete", b.DeletePermission("u", "nowhere"), ErrVHostNotFound)
	wantErr(t, "delete what is not there", b.DeletePermission("guest", "/"), nil)
	wantErr(t, "again", b.DeletePermission("guest", "/"), nil)
	wantErr(t, "name", put1(b.PutVHost(VHostSpec{})), ErrInvalidName)
}
