package amqp

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// user makes a user whose password is its name, with a permission in "/".
func (n *node) user(name string, p catalog.Permission) {
	n.t.Helper()
	p.User, p.VHost = name, "/"
	_, err := n.b.PutUser(catalog.UserSpec{Name: name, Password: name})
	if err == nil {
		_, err = n.b.SetPermission(p)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) connect(user, vhost string) (*amqp091.Connection, error) {
	config := amqp091.Config{Vhost: vhost, SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: user, Password: user}}}
	return amqp091.DialConfig("amqp://"+n.addr, config)
}

func (n *node) mustConnect(user, vhost string) *amqp091.Connection {
	n.t.Helper()
	c, err := n.connect(user, vhost)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { c.Close() })
	return c
}

// heard returns what a client was told: "" if all went well, otherwise code and text.
func heard(err error) string {
	var e *amqp091.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return fmt.Sprintf("%d %s", e.Code, e.Reason)
	}
	return err.Error()
}

func noAccess(action, kind, name string) string {
	return fmt.Sprintf("403 ACCESS_REFUSED - %s access to %s '%s' in vhost '/' refused for user 'u'", action, kind, name)
}

func noTopic(action, key, exchange string) string {
	return fmt.Sprintf("403 ACCESS_REFUSED - %s access to topic '%s' in exchange '%s' in vhost '/' refused for user 'u'", action, key, exchange)
}

const missing = "404 NOT_FOUND - no "

type operation struct {
	name string
	do   func(ch *amqp091.Channel) error
	want string
}

func declareQueue(name string, args amqp091.Table) func(*amqp091.Channel) error {
	return func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare(name, false, false, false, false, args)
		return err
	}
}

func declareExchange(name, kind string, args amqp091.Table) func(*amqp091.Channel) error {
	return func(ch *amqp091.Channel) error {
		return ch.ExchangeDeclare(name, kind, false, false, false, false, args)
	}
}

func bind(queue, key, exchange string) func(*amqp091.Channel) error {
	return func(ch *amqp091.Channel) error { return ch.QueueBind(queue, key, exchange, false, nil) }
}

func publish(exchange, key string, p amqp091.Publishing) func(*amqp091.Channel) error {
	return func(ch *amqp091.Channel) error {
		if err := ch.Confirm(false); err != nil {
			return err
		}
		closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
		confirmed := ch.NotifyPublish(make(chan amqp091.Confirmation, 1))
		if err := ch.Publish(exchange, key, false, false, p); err != nil {
			return err
		}
		select {
		case e := <-closed:
			return e
		case _, ok := <-confirmed:
			if !ok {
				return <-closed
			}
			return nil
		}
	}
}

const onDefault = "403 ACCESS_REFUSED - operation not permitted on the default exchange"

// operations are for a user who may configure ^c, write ^w and ^cw, and read ^r and ^cr. The
// answers are those of RabbitMQ 3.10, except for the first word of a refusal ("configure", …),
// which newer versions add.
var operations = []operation{
	{"declare a queue", declareQueue("q1", nil), noAccess("configure", "queue", "q1")},
	{"declare a queue that is there", declareQueue("q", nil), noAccess("configure", "queue", "q")},
	{"passive", func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclarePassive("q", false, false, false, false, nil)
		return err
	}, ""},
	{"passive, missing", func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclarePassive("nope", false, false, false, false, nil)
		return err
	}, missing + "queue 'nope' in vhost '/'"},
	{"reserved queue", declareQueue("amq.x", nil), "403 ACCESS_REFUSED - queue name 'amq.x' contains reserved prefix 'amq.*'"},
	{"bad argument", declareQueue("q1", amqp091.Table{"x-max-length": -1}), noAccess("configure", "queue", "q1")},
	{"declare an exchange", declareExchange("x1", "direct", nil), noAccess("configure", "exchange", "x1")},
	{"declare an exchange that is there", declareExchange("x", "direct", nil), noAccess("configure", "exchange", "x")},
	{"passive exchange", func(ch *amqp091.Channel) error {
		return ch.ExchangeDeclarePassive("x", "direct", false, false, false, false, nil)
	}, ""},
	{"reserved exchange", declareExchange("amq.x", "direct", nil), noAccess("configure", "exchange", "amq.x")},
	{"default exchange", declareExchange("", "direct", nil), onDefault},
	{"bad alternate", declareExchange("x1", "direct", amqp091.Table{"alternate-exchange": int32(5)}), noAccess("configure", "exchange", "x1")},
	{"delete a queue", func(ch *amqp091.Channel) error { _, err := ch.QueueDelete("q", false, false, false); return err }, noAccess("configure", "queue", "q")},
	{"delete no queue", func(ch *amqp091.Channel) error { _, err := ch.QueueDelete("nope", false, false, false); return err },
		noAccess("configure", "queue", "nope")},
	{"delete an exchange", func(ch *amqp091.Channel) error { return ch.ExchangeDelete("x", false, false) }, noAccess("configure", "exchange", "x")},
	{"delete a system exchange", func(ch *amqp091.Channel) error { return ch.ExchangeDelete("amq.direct", false, false) },
		"403 ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed"},
	{"bind what is not there", bind("nope", "k", "nox"), noAccess("write", "queue", "nope")},
	{"bind to the default exchange", bind("q", "k", ""), noAccess("write", "queue", "q")},
	{"unbind", func(ch *amqp091.Channel) error { return ch.QueueUnbind("q", "k", "x", nil) }, noAccess("write", "queue", "q")},
	{"bind exchanges", func(ch *amqp091.Channel) error { return ch.ExchangeBind("x", "k", "x", false, nil) }, noAccess("write", "exchange", "x")},
	{"publish to no exchange", publish("nope", "k", amqp091.Publishing{}), noAccess("write", "exchange", "nope")},
	{"publish", publish("x", "k", amqp091.Publishing{}), noAccess("write", "exchange", "x")},
	{"publish to the default exchange", publish("", "q", amqp091.Publishing{}), noAccess("write", "exchange", "amq.default")},
	{"publish a reply", publish("", "amq.rabbitmq.reply-to.a.b", amqp091.Publishing{}), noAccess("write", "exchange", "amq.default")},
	{"publish to an internal exchange", publish("int", "k", amqp091.Publishing{}), noAccess("write", "exchange", "int")},
	{"publish something wrong", publish("x", "k", amqp091.Publishing{Expiration: "abc", UserId: "zz"}), noAccess("write", "exchange", "x")},
	{"consume from nothing", func(ch *amqp091.Channel) error {
		_, err := ch.Consume("nope", "", false, false, false, false, nil)
		return err
	}, noAccess("read", "queue", "nope")},
	{"consume", func(ch *amqp091.Channel) error {
		_, err := ch.Consume("q", "", false, false, false, false, nil)
		return err
	}, noAccess("read", "queue", "q")},
	{"consume with a wrong priority", func(ch *amqp091.Channel) error {
		_, err := ch.Consume("q", "", false, false, false, false, amqp091.Table{"x-priority": "a"})
		return err
	}, noAccess("read", "queue", "q")},
	{"consume replies", func(ch *amqp091.Channel) error {
		_, err := ch.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
		return err
	}, ""},
	{"get", func(ch *amqp091.Channel) error { _, _, err := ch.Get("q", true); return err }, noAccess("read", "queue", "q")},
	{"purge", func(ch *amqp091.Channel) error { _, err := ch.QueuePurge("nope", false); return err }, noAccess("read", "queue", "nope")},

	{"dead letters without read", declareQueue("cq2", amqp091.Table{"x-dead-letter-exchange": "wdirect"}), noAccess("read", "queue", "cq2")},
	{"dead letters without write", declareQueue("crq", amqp091.Table{"x-dead-letter-exchange": "x"}), noAccess("write", "exchange", "x")},
	{"dead letters", declareQueue("crq", amqp091.Table{"x-dead-letter-exchange": "wdirect"}), ""},
	{"dead letters to a queue", declareQueue("crq2", amqp091.Table{"x-dead-letter-exchange": ""}), noAccess("write", "exchange", "amq.default")},
	{"dead letters of a queue that is there", declareQueue("cq", amqp091.Table{"x-dead-letter-exchange": "x"}), "406 PRECONDITION_FAILED - inequivalent " +
		"arg 'x-dead-letter-exchange' for queue 'cq' in vhost '/': received the value 'x' of type 'longstr' but current is none"},
	{"alternate without write", declareExchange("crx", "direct", amqp091.Table{"alternate-exchange": "x"}), noAccess("write", "exchange", "x")},
	{"alternate without read", declareExchange("cx2", "direct", amqp091.Table{"alternate-exchange": "wdirect"}), noAccess("read", "exchange", "cx2")},
	{"alternate", declareExchange("crx", "direct", amqp091.Table{"alternate-exchange": "wdirect"}), ""},

	{"dead letters of a stream without write", declareQueue("crs", amqp091.Table{"x-queue-type": "stream", "x-dead-letter-exchange": "x"}),
		noAccess("write", "exchange", "x")},
	{"dead letters of a stream without read", declareQueue("cs", amqp091.Table{"x-queue-type": "stream", "x-dead-letter-exchange": "wdirect"}),
		noAccess("read", "queue", "cs")},

	{"bind a queue to the default exchange", bind("wq", "k", ""), onDefault},
	{"unbind a queue from the default exchange", func(ch *amqp091.Channel) error { return ch.QueueUnbind("wq", "k", "", nil) }, onDefault},
	{"bind an exchange to the default exchange", func(ch *amqp091.Channel) error { return ch.ExchangeBind("wdirect", "k", "", false, nil) }, onDefault},
	{"bind the default exchange", func(ch *amqp091.Channel) error { return ch.ExchangeBind("", "k", "x", false, nil) }, noAccess("write", "exchange", "amq.default")},
	{"bind", bind("wq", "k", "rdirect"), ""},
	{"bind without read", bind("wq", "k", "x"), noAccess("read", "exchange", "x")},
	{"bind no queue", bind("wnope", "k", "rdirect"), missing + "queue 'wnope' in vhost '/'"},
	{"bind to no exchange", bind("wq", "k", "rnope"), missing + "exchange 'rnope' in vhost '/'"},
	{"bind with a topic", bind("wq", "rd.#", "rtopic"), ""},
	{"bind with another topic", bind("wq", "k", "rtopic"), noTopic("read", "k", "rtopic")},
	{"bind no queue with another topic", bind("wnope", "k", "rtopic"), noTopic("read", "k", "rtopic")},
	{"unbind with another topic", func(ch *amqp091.Channel) error { return ch.QueueUnbind("wq", "k", "rtopic", nil) }, noTopic("read", "k", "rtopic")},
	{"bind an exchange with another topic", func(ch *amqp091.Channel) error { return ch.ExchangeBind("wdirect", "k", "rtopic", false, nil) },
		noTopic("read", "k", "rtopic")},
	{"publish with a topic", publish("wtopic", "ok-u", amqp091.Publishing{}), ""},
	{"publish with another topic", publish("wtopic", "no", amqp091.Publishing{UserId: "zz", Expiration: "x"}), noTopic("write", "no", "wtopic")},
	{"copy with another topic", publish("wtopic", "ok-u", amqp091.Publishing{Headers: amqp091.Table{"CC": []any{"no"}}}), ""},
	{"topic of another type of exchange", publish("wdirect", "no", amqp091.Publishing{}), ""},
	{"publish to an internal exchange that may be written", publish("wint", "k", amqp091.Publishing{}),
		"403 ACCESS_REFUSED - cannot publish to internal exchange 'wint' in vhost '/'"},
	{"publish to no exchange that may be written", publish("wnope", "no", amqp091.Publishing{}), missing + "exchange 'wnope' in vhost '/'"},
	{"another's name", publish("wdirect", "no", amqp091.Publishing{UserId: "zz"}),
		"406 PRECONDITION_FAILED - user_id property set to 'zz' but authenticated user was 'u'"},
	{"own name", publish("wdirect", "no", amqp091.Publishing{UserId: "u"}), ""},
}

func TestPermissionMatrix(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	n.user("u", catalog.Permission{Configure: "^c", Write: "^w|^cw", Read: "^r|^cr|amq.topic"})
	admin, err := n.mustConnect("guest", "/").Channel()
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"x": "direct", "wdirect": "direct", "wtopic": "topic", "rtopic": "topic", "rdirect": "direct"} {
		err = errors.Join(err, declareExchange(name, kind, nil)(admin))
	}
	for _, name := range []string{"int", "wint"} {
		err = errors.Join(err, admin.ExchangeDeclare(name, "direct", false, false, true, false, nil))
	}
	for _, name := range []string{"q", "wq", "cq"} {
		err = errors.Join(err, declareQueue(name, nil)(admin))
	}
	for _, x := range []string{"wtopic", "rtopic", "wdirect"} {
		_, e := n.b.SetTopicPermission(catalog.TopicPermission{User: "u", VHost: "/", Exchange: x, Write: "^ok-{username}", Read: "^rd"})
		err = errors.Join(err, e)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := n.mustConnect("u", "/")
	for _, o := range operations {
		ch, err := c.Channel()
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		if got := heard(o.do(ch)); got != o.want {
			t.Errorf("%s:\n got %s\nwant %s", o.name, got, o.want)
		}
		ch.Close()
	}
}

// TestImpersonator lets a user publish in another's name.
func TestImpersonator(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	n.user("u", catalog.Permission{Write: ".*"})
	if err := n.b.SetUserTags("u", []string{catalog.TagImpersonator}); err != nil {
		t.Fatal(err)
	}
	ch, err := n.mustConnect("u", "/").Channel()
	if err != nil {
		t.Fatal(err)
	}
	if got := heard(publish("amq.direct", "k", amqp091.Publishing{UserId: "zz"})(ch)); got != "" {
		t.Error(got)
	}
}

func TestLimitTexts(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	n.user("u", catalog.Permission{Configure: ".*"})
	n.user("stranger", catalog.Permission{})
	_, err := n.b.PutVHost(catalog.VHostSpec{Name: "v"})
	err = errors.Join(err, n.b.DeletePermission("stranger", "/"), n.b.SetUserLimit("u", catalog.LimitConnections, 1),
		n.b.SetUserLimit("u", catalog.LimitChannels, 2), n.b.SetVHostLimit("/", catalog.LimitQueues, 1), n.b.SetVHostLimit("v", catalog.LimitConnections, 0))
	if err != nil {
		t.Fatal(err)
	}
	c := n.mustConnect("u", "/")
	for _, x := range []struct{ user, vhost, want string }{
		{"stranger", "nope", "530 NOT_ALLOWED - vhost nope not found"},
		{"stranger", "/", "530 NOT_ALLOWED - access to vhost '/' refused for user 'stranger'"},
		{"stranger", "v", "530 NOT_ALLOWED - access to vhost 'v' refused for user 'stranger': connection limit (0) is reached"},
		{"u", "/", "530 NOT_ALLOWED - connection refused for user 'u': user connection limit (1) is reached"},
	} {
		_, err := n.connect(x.user, x.vhost)
		if got := heard(err); got != x.want {
			t.Errorf("%s on %s:\n got %s\nwant %s", x.user, x.vhost, got, x.want)
		}
	}
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if got := heard(errors.Join(declareQueue("a", nil)(ch), declareQueue("a", nil)(ch))); got != "" {
		t.Error(got)
	}
	want := "406 PRECONDITION_FAILED - cannot declare queue 'b': queue limit in vhost '/' (1) is reached"
	if got := heard(declareQueue("b", nil)(ch)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for range 2 {
		if _, err := c.Channel(); err != nil {
			t.Fatalf("a closed channel counts: %v", err)
		}
	}
	closed := c.NotifyClose(make(chan *amqp091.Error, 1))
	c.Channel() //nolint:errcheck // the error of the connection is checked below
	want = "530 NOT_ALLOWED - number of channels opened for user 'u' has reached the maximum allowed user limit of (2)"
	if got := heard(<-closed); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestDeletionEndsConnections deletes a virtual host and a user that clients are using, and creates
// both again.
func TestDeletionEndsConnections(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	n.user("u", catalog.Permission{Configure: ".*", Write: ".*", Read: ".*"})
	setUp := func() *amqp091.Connection {
		_, err := n.b.PutVHost(catalog.VHostSpec{Name: "v"})
		if err == nil {
			_, err = n.b.SetPermission(catalog.Permission{User: "u", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"})
		}
		if err != nil {
			t.Fatal(err)
		}
		return n.mustConnect("u", "v")
	}
	for round := range 2 {
		c := setUp()
		ch, err := c.Channel()
		if err != nil {
			t.Fatal(err)
		}
		q, err := ch.QueueDeclare("q", true, false, false, false, nil)
		if err != nil || q.Messages != 0 {
			t.Fatalf("round %d: %+v, %v", round, q, err)
		}
		closed := c.NotifyClose(make(chan *amqp091.Error, 1))
		if _, err := ch.Consume("q", "", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		var publisher sync.WaitGroup
		publisher.Go(func() {
			for ch.Publish("", "q", false, false, amqp091.Publishing{DeliveryMode: 2}) == nil {
			}
		})
		if err := n.b.DeleteVHost("v"); err != nil {
			t.Fatal(err)
		}
		if got, want := heard(<-closed), "320 CONNECTION_FORCED - vhost 'v' is down"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		publisher.Wait()
	}
	c := n.mustConnect("u", "/")
	closed := c.NotifyClose(make(chan *amqp091.Error, 1))
	if err := n.b.DeleteUser("u"); err != nil {
		t.Fatal(err)
	}
	if got, want := heard(<-closed), "320 CONNECTION_FORCED - user 'u' is deleted"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRefusedLoginsAreLogged checks that the log has user, address, mechanism and reason, but never
// the password.
func TestRefusedLoginsAreLogged(t *testing.T) {
	var log logtest.Text
	n := startNode(t, Options{Shared: protocol.Shared{LoginDelay: time.Nanosecond, Log: slog.New(slog.NewTextHandler(&log, nil))}}, broker.Options{})
	n.user("u", catalog.Permission{})
	texts := map[string]bool{}
	for _, login := range []struct{ user, password, why string }{
		{"u", "hunter2", "the password is wrong"}, {"nobody", "hunter3", "there is no such user"},
	} {
		config := amqp091.Config{SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: login.user, Password: login.password}}}
		_, err := amqp091.DialConfig("amqp://"+n.addr, config)
		texts[heard(err)] = true
		line := log.String()
		for _, part := range []string{"user=" + login.user, "mechanism=PLAIN", "peer=127.0.0.1:", login.why} {
			if !strings.Contains(line, part) {
				t.Errorf("no %q in %s", part, line)
			}
		}
		if strings.Contains(line, login.password) {
			t.Errorf("the password is in %s", line)
		}
	}
	if len(texts) != 1 {
		t.Errorf("clients hear the difference: %v", texts)
	}
}

// TestNewSecret checks that any secret is accepted and changes nothing.
func TestNewSecret(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "mine", Exclusive: true})
	for _, secret := range []string{"guest", "another one", ""} {
		c.call(0, &amqpwire.ConnectionUpdateSecret{NewSecret: []byte(secret), Reason: "rotation"}, &amqpwire.ConnectionUpdateSecretOk{})
		c.declare(1, amqpwire.QueueDeclare{Queue: "mine", Exclusive: true, Passive: true})
	}
}

// TestNewSecretIsCheckedAgain checks that a user who has lost access to the virtual host is
// refused.
func TestNewSecretIsCheckedAgain(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.call(0, &amqpwire.ConnectionUpdateSecret{NewSecret: []byte("guest")}, &amqpwire.ConnectionUpdateSecretOk{})
	if err := n.b.DeletePermission("guest", "/"); err != nil {
		t.Fatal(err)
	}
	c.send(0, &amqpwire.ConnectionUpdateSecret{NewSecret: []byte("guest")})
	if got, want := c.connectionClosed(), "530 NOT_ALLOWED - New secret was refused by one of the backends"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDocumentedPatterns lets the users of docs/access.md do their work.
func TestDocumentedPatterns(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	n.user("app", catalog.Permission{Configure: "^app-", Write: `^(app-|amq\.default$)`, Read: "^app-"})
	n.user("publisher", catalog.Permission{Write: "^events$"})
	n.user("subscriber", catalog.Permission{Configure: `^amq\.gen-`, Write: `^amq\.gen-`, Read: `^(amq\.gen-|events$)`})
	n.user("rpc", catalog.Permission{Write: `^amq\.default$`})
	channel := func(user string) *amqp091.Channel {
		ch, err := n.mustConnect(user, "/").Channel()
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	ok("exchange", declareExchange("events", "fanout", nil)(channel("guest")))

	app := channel("app")
	ok("declare", errors.Join(declareQueue("app-q", nil)(app), declareExchange("app-x", "direct", nil)(app), bind("app-q", "k", "app-x")(app)))
	ok("publish", publish("", "app-q", amqp091.Publishing{})(app))
	_, got, err := app.Get("app-q", true)
	if ok("get", err); !got {
		t.Error("nothing there")
	}

	subscriber := channel("subscriber")
	q, err := subscriber.QueueDeclare("", false, false, true, false, nil)
	ok("server-named queue", err)
	ok("bind", bind(q.Name, "", "events")(subscriber))
	messages, err := subscriber.Consume(q.Name, "", true, false, false, false, nil)
	ok("consume", err)
	ok("publish an event", publish("events", "", amqp091.Publishing{Body: []byte("event")})(channel("publisher")))
	if m := <-messages; string(m.Body) != "event" {
		t.Errorf("got %q", m.Body)
	}

	rpc := channel("rpc")
	_, err = rpc.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
	ok("consume replies", err)
	ok("request", publish("", "app-q", amqp091.Publishing{ReplyTo: "amq.rabbitmq.reply-to"})(rpc))
}
