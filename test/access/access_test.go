package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// users maps each user to its configure, write and read patterns in "/".
var users = map[string][3]string{
	"none":      {"", "", ""}, // may enter
	"configure": {".*", "", ""},
	"write":     {"", ".*", ""},
	"read":      {"", "", ".*"},
	"all":       {".*", ".*", ".*"},
	"other":     {"^mine", "^mine", "^mine"}, // everything, but only under other names
}

const stranger = "stranger" // has no permission in "/"

// action is an operation in one protocol. refusal is part of the error for a user without
// permission, and entry part of the error for a stranger.
type action struct {
	protocol, what string
	do             func(t *testing.T, n *node, user string) error
	may            []string // users
	refusal, entry string
}

var (
	configurers = []string{"configure", "all"}
	writers     = []string{"write", "all"}
	readers     = []string{"read", "all"}
	everything  = []string{"all"}
)

const (
	amqpNo, amqpOut   = "refused for user", "Exception (403) Reason: \"username or password not allowed\"|access to vhost '/' refused"
	sqlNo, sqlOut     = "Access denied", "42501"
	redisNo, redisOut = "NOPERM", "WRONGPASS|NOPERM|vhost"
	etcdNo, etcdOut   = "permission denied", "permission denied"
	httpNo, httpOut   = "403", "403"
)

// actions is the matrix. The queue orders and the semaphore crowd exist.
var actions = []action{
	{"amqp", "declare a queue", amqpDo(func(ch *amqp.Channel, user string) error {
		_, err := ch.QueueDeclare("new-"+user, true, false, false, false, nil)
		return err
	}), configurers, amqpNo, amqpOut},
	{"amqp", "delete a queue", amqpDo(func(ch *amqp.Channel, _ string) error {
		_, err := ch.QueueDelete("nothing", false, false, false)
		return err
	}), configurers, amqpNo, amqpOut},
	{"amqp", "publish", amqpDo(func(ch *amqp.Channel, _ string) error { return publish(ch, "amq.topic") }), writers, amqpNo, amqpOut},
	{"amqp", "get", amqpDo(func(ch *amqp.Channel, _ string) error { _, _, err := ch.Get("orders", false); return err }), readers, amqpNo, amqpOut},
	{"amqp", "consume", amqpDo(func(ch *amqp.Channel, _ string) error {
		_, err := ch.Consume("orders", "", false, false, false, false, nil)
		return err
	}), readers, amqpNo, amqpOut},
	{"amqp", "purge", amqpDo(func(ch *amqp.Channel, _ string) error { _, err := ch.QueuePurge("orders", false); return err }), readers, amqpNo, amqpOut},
	{"amqp", "bind", amqpDo(func(ch *amqp.Channel, _ string) error { return ch.QueueBind("orders", "k", "amq.topic", false, nil) }), everything, amqpNo, amqpOut},

	{"sql", "post", sqlDo("select mbus4.post('orders', 'a=>1')"), writers, sqlNo, sqlOut},
	{"sql", "consume", sqlDo("select * from mbus4.consume('orders')"), readers, sqlNo, sqlOut},
	{"sql", "create a queue", sqlDo("select mbus4.create_queue('new_USER', 4)"), everything, sqlNo, sqlOut},

	{"redis", "push", redisDo("LPUSH", "orders", "x"), writers, redisNo, redisOut},
	{"redis", "pop", redisDo("RPOP", "orders"), readers, redisNo, redisOut},
	{"redis", "length", redisDo("LLEN", "orders"), readers, redisNo, redisOut},
	{"redis", "push into a new queue", redisDo("LPUSH", "redis-USER", "x"), everything, redisNo, redisOut},
	{"redis", "make a semaphore", redisDo("SEM.CREATE", "redissem"), configurers, redisNo, redisOut},

	{"etcd", "put a message", etcdDo(func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Put(ctx, "/q/orders/p/1", "x")
		return err
	}), writers, etcdNo, etcdOut},
	{"etcd", "range over messages", etcdDo(func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Get(ctx, "/q/orders/p/", clientv3.WithPrefix())
		return err
	}), readers, etcdNo, etcdOut},
	{"etcd", "ordinary keys", etcdDo(func(ctx context.Context, c *clientv3.Client) error { _, err := c.Put(ctx, "key", "x"); return err }), append(userNames(), stranger), "", ""},

	{"http", "make a semaphore", httpDo("PUT", "/api/semaphores/%2F/httpsem", "{}"), configurers, httpNo, httpOut},
	{"http", "enqueue a task", httpDo("PUT", "/api/semaphores/%2F/crowd/tasks/1", `{"priority":1}`), writers, httpNo, httpOut},
	{"http", "look at a semaphore", httpDo("GET", "/api/semaphores/%2F/crowd", ""), readers, httpNo, httpOut},
}

func userNames() []string {
	return slices.Sorted(maps.Keys(users))
}

type node struct{ *brokertest.Broker }

func TestPermissions(t *testing.T) {
	n := &node{brokertest.Run(t, "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0")}
	n.prepare(t)
	for _, a := range actions {
		t.Run(a.protocol+"/"+a.what, func(t *testing.T) {
			t.Parallel()
			for _, user := range append(userNames(), stranger) {
				may := slices.Contains(a.may, user)
				switch err := a.do(t, n, user); {
				case may && err != nil:
					t.Errorf("%s: %v", user, err)
				case !may && err == nil:
					t.Errorf("%s may", user)
				case !may && user == stranger:
					if !containsOneOf(err.Error(), a.entry) {
						t.Errorf("%s hears %v", user, err)
					}
				case !may && !containsOneOf(err.Error(), a.refusal):
					t.Errorf("%s hears %v", user, err)
				}
			}
		})
	}
}

func containsOneOf(text, list string) bool {
	return slices.ContainsFunc(strings.Split(list, "|"), func(s string) bool { return strings.Contains(text, s) })
}

// prepare creates the objects of the actions.
func (n *node) prepare(t *testing.T) {
	t.Helper()
	do := func(method, path, body string) {
		t.Helper()
		if err := n.request(t, "guest", method, path, body); err != nil {
			t.Fatal(err)
		}
	}
	for name := range users {
		do("PUT", "/api/users/"+name, fmt.Sprintf(`{"password":%q,"tags":""}`, name))
		p := users[name]
		do("PUT", "/api/permissions/%2F/"+name, fmt.Sprintf(`{"configure":%q,"write":%q,"read":%q}`, p[0], p[1], p[2]))
	}
	do("PUT", "/api/users/"+stranger, fmt.Sprintf(`{"password":%q,"tags":""}`, stranger))
	do("PUT", "/api/semaphores/%2F/crowd", "{}")
	err := sqlDo("select mbus4.create_queue('orders', 4)")(t, n, "guest")
	if err != nil {
		t.Fatal(err)
	}
}

func amqpDo(do func(ch *amqp.Channel, user string) error) func(*testing.T, *node, string) error {
	return func(t *testing.T, n *node, user string) error {
		c, err := amqp.Dial(fmt.Sprintf("amqp://%s:%s@%s/", user, user, n.Addr()))
		if err != nil {
			return err
		}
		defer c.Close()
		ch, err := c.Channel()
		if err != nil {
			return err
		}
		return do(ch, user)
	}
}

// publish publishes and waits for the confirm, or for the end of the channel.
func publish(ch *amqp.Channel, exchange string) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	confirm, err := ch.PublishWithDeferredConfirm(exchange, "k", false, false, amqp.Publishing{Body: []byte("x")})
	if err != nil {
		return err
	}
	select {
	case err := <-closed:
		return err
	case <-confirm.Done():
		return nil
	}
}

func sqlDo(statement string) func(*testing.T, *node, string) error {
	return func(t *testing.T, n *node, user string) error {
		c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://%s:%s@%s/fiveways?sslmode=disable", user, user, n.SQLAddr()))
		if err != nil {
			return err
		}
		defer c.Close(t.Context()) //nolint:errcheck // it is no longer needed
		_, err = c.Exec(t.Context(), strings.ReplaceAll(statement, "USER", user))
		return err
	}
}

func redisDo(args ...string) func(*testing.T, *node, string) error {
	return func(t *testing.T, n *node, user string) error {
		c := redis.NewClient(&redis.Options{Addr: n.RedisAddr(), Username: user, Password: user, MaxRetries: -1})
		defer c.Close()
		own := make([]any, len(args))
		for i, arg := range args {
			own[i] = strings.ReplaceAll(arg, "USER", user)
		}
		err := c.Do(t.Context(), own...).Err()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	}
}

func etcdDo(do func(ctx context.Context, c *clientv3.Client) error) func(*testing.T, *node, string) error {
	return func(t *testing.T, n *node, user string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{n.EtcdAddr()}, Username: user, Password: user, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		defer c.Close()
		return do(ctx, c)
	}
}

func httpDo(method, path, body string) func(*testing.T, *node, string) error {
	return func(t *testing.T, n *node, user string) error { return n.request(t, user, method, path, body) }
}

func (n *node) request(t *testing.T, user, method, path, body string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+n.HTTPAddr()+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth(user, user)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	answer, _ := io.ReadAll(w.Body)
	if w.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%d %s", w.StatusCode, answer)
	}
	return nil
}

// TestNoSignOfUsers compares the answer to a wrong password with that for a missing user.
func TestNoSignOfUsers(t *testing.T) {
	n := &node{brokertest.Run(t, "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0")}
	n.prepare(t)
	for protocol, try := range map[string]func(name string) error{
		"amqp": func(name string) error {
			_, err := amqp.Dial("amqp://" + name + ":wrong@" + n.Addr() + "/")
			return err
		},
		"sql": func(name string) error {
			_, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://%s:wrong@%s/fiveways?sslmode=disable", name, n.SQLAddr()))
			return err
		},
		"redis": func(name string) error {
			c := redis.NewClient(&redis.Options{Addr: n.RedisAddr(), MaxRetries: -1})
			defer c.Close()
			return c.Do(t.Context(), "AUTH", name, "wrong").Err()
		},
		"etcd": func(name string) error {
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{n.EtcdAddr()}, Logger: zap.NewNop()})
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Authenticate(t.Context(), name, "wrong")
			return err
		},
		"http": func(name string) error {
			r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+n.HTTPAddr()+"/api/semaphores", http.NoBody)
			r.SetBasicAuth(name, "wrong")
			w, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer w.Body.Close()
			answer, _ := io.ReadAll(w.Body)
			return fmt.Errorf("%d %s", w.StatusCode, answer)
		},
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			heard := map[string]bool{}
			for _, name := range []string{"configure", "nobody", stranger} {
				err := try(name)
				if err == nil {
					t.Fatalf("%s got in", name)
				}
				heard[strings.ReplaceAll(err.Error(), name, "NAME")] = true
			}
			if len(heard) != 1 {
				t.Errorf("%q", slices.Collect(maps.Keys(heard)))
			}
		})
	}
}
