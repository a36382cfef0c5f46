package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// onePolicy gives all queues the rates in the only parameter.
type onePolicy struct{}

func (onePolicy) Component(name string) bool { return name == "policy" }

func (onePolicy) Compile(policies []Parameter) Rules {
	var rates [2]int64
	json.Unmarshal(policies[0].Value, &rates) //nolint:errcheck // of this file
	return queueRates{rates[0], rates[1]}
}

type queueRates Rates

func (r queueRates) Queue(_ string, _ message.Table, declared QueuePolicy) Ruling {
	return Ruling{QueuePolicy: declared, Rates: Rates(r)}
}

func (queueRates) Exchange(string) (string, Applied) { return "", Applied{} }

// inRatedBubble opens a broker with policies, a queue q and a client, in a synctest bubble.
func inRatedBubble(t *testing.T) (*Broker, *client) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Policies = onePolicy{} })
	t.Cleanup(func() { mustClose(t, b) })
	c := newClient(t, b)
	c.queue("q", nil)
	return b, c
}

// took returns the duration of fn.
func took(fn func()) time.Duration {
	start := time.Now()
	fn()
	return time.Since(start)
}

func TestRates(t *testing.T) {
	user := func(limit string) func(*Broker, int64) error {
		return func(b *Broker, n int64) error { return b.SetUserLimit("guest", limit, n) }
	}
	vhost := func(limit string) func(*Broker, int64) error {
		return func(b *Broker, n int64) error { return b.SetVHostLimit("/", limit, n) }
	}
	policy := func(format string) func(*Broker, int64) error {
		return func(b *Broker, n int64) error {
			return b.SetParameter(Parameter{VHost: "/", Component: "policy", Name: "p", Value: []byte(fmt.Sprintf(format, n))})
		}
	}
	publish := func(c *client, body string) {
		c.put("", "q", body, nil)
	}
	commit := func(c *client, body string) {
		tx := c.NewTx()
		targets, err := c.Into("q")
		must(c.t, err)
		tx.Publish(&shard.Publish{Targets: targets, Env: bareEnvelope("q", []byte(body)), TTL: -1})
		must(c.t, tx.Commit())
	}
	post := func(c *client, body string) {
		p := Post{OnQueue: OnQueue{Queue: "q"}, Env: bareEnvelope("q", []byte(body)), TTL: -1}
		must(c.t, c.Do(&p))
		must(c.t, p.Err)
	}
	postAll := func(c *client, body string) {
		p := Post{OnQueue: OnQueue{Queue: "q"}, Env: bareEnvelope("q", []byte(body)), TTL: -1}
		must(c.t, c.DoAll(&p))
		must(c.t, p.Err)
	}
	for name, tc := range map[string]struct {
		limit func(*Broker, int64) error
		rate  int64
		size  int // of a body
		n     int
		want  time.Duration
	}{
		"messages of a user":            {user(LimitPublishRate), 10, 1, 30, 2 * time.Second},
		"messages of a virtual host":    {vhost(LimitPublishRate), 10, 1, 30, 2 * time.Second},
		"messages of a queue":           {policy("[%d, 0]"), 10, 1, 30, 2 * time.Second},
		"bytes of a user":               {user(LimitPublishBytes), 100, 50, 8, 3 * time.Second},
		"bytes of a virtual host":       {vhost(LimitPublishBytes), 100, 50, 8, 3 * time.Second},
		"bytes of a queue":              {policy("[0, %d]"), 100, 50, 8, 3 * time.Second},
		"a message larger than a burst": {user(LimitPublishBytes), 100, 1000, 2, 19 * time.Second},
		"within the burst":              {user(LimitPublishRate), 10, 1, 10, 0},
		"no limit":                      {user(LimitPublishRate), -1, 1, 100, 0},
	} {
		for way, put := range map[string]func(*client, string){"Publish": publish, "Commit": commit, "Do": post, "DoAll": postAll} {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b, c := inRatedBubble(t)
					defer c.Close()
					must(t, tc.limit(b, tc.rate))
					body := strings.Repeat("x", tc.size)
					got := took(func() {
						for range tc.n {
							put(c, body)
						}
					})
					if slack := 50 * time.Millisecond; got < tc.want || got > tc.want+slack {
						t.Errorf("%d messages took %v, want %v", tc.n, got, tc.want)
					}
				})
			})
		}
	}
}

// A session that has been idle for a long time may publish one second's quota at once, and no more.
func TestRatesBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := inRatedBubble(t)
		defer c.Close()
		must(t, b.SetUserLimit("guest", LimitPublishRate, 5))
		time.Sleep(time.Hour)
		for n, want := range []time.Duration{5: 0, 6: time.Second / 5, 7: time.Second / 5} {
			if n == 0 {
				continue
			}
			if got := took(func() { c.put("", "q", "m", nil) }); n >= 6 && got < want || n < 6 && got > 0 {
				t.Errorf("message %d waited %v, want %v", n, got, want)
			}
		}
	})
}

// The sessions of a user share its rate: a burst and two seconds for both together.
func TestRatesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, first := inRatedBubble(t)
		defer first.Close()
		second := newClient(t, b)
		defer second.Close()
		must(t, b.SetUserLimit("guest", LimitPublishRate, 10))
		start := time.Now()
		ends := make(chan time.Duration, 2)
		for _, c := range []*client{first, second} {
			go func() {
				for range 15 {
					c.put("", "q", "m", nil)
				}
				ends <- time.Since(start)
			}()
		}
		<-ends
		if end := <-ends; end < 2*time.Second || end > 2050*time.Millisecond {
			t.Errorf("both were done after %v, want 2s", end)
		}
	})
}

// waitFor returns when a publish that would wait for an hour ends, if change runs after a second.
func waitFor(t *testing.T, change func(t *testing.T, b *Broker, done chan struct{})) (got time.Duration, err error) {
	t.Helper()
	return waitAs(t, SessionOptions{}, change)
}

func waitAs(t *testing.T, o SessionOptions, change func(t *testing.T, b *Broker, done chan struct{})) (got time.Duration, err error) {
	t.Helper()
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Policies = onePolicy{} })
	defer mustClose(t, b)
	done := make(chan struct{})
	o.User, o.VHost, o.Done = "guest", "/", done
	s, err := b.NewSession(o)
	must(t, err)
	defer s.Close()
	_, err = s.DeclareQueue(QueueSpec{Name: "q", Policy: DefaultQueuePolicy()})
	must(t, err)
	must(t, b.SetUserLimit("guest", LimitPublishBytes, 1))
	go func() {
		<-time.After(time.Second)
		change(t, b, done)
	}()
	p := Post{OnQueue: OnQueue{Queue: "q"}, Env: bareEnvelope("q", make([]byte, 3601)), TTL: -1}
	got = took(func() { err = s.Do(&p) })
	return got, errors.Join(err, p.Err)
}

func TestRatesWaitEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, b *Broker, done chan struct{})
		want   time.Duration
		err    error
	}{
		"by itself": {func(*testing.T, *Broker, chan struct{}) {}, time.Hour, nil},
		"faster when the limit is raised": {func(t *testing.T, b *Broker, _ chan struct{}) {
			must(t, b.SetUserLimit("guest", LimitPublishBytes, 3599))
		}, 2 * time.Second, nil},
		"when the limit is taken away": {func(t *testing.T, b *Broker, _ chan struct{}) {
			must(t, b.ClearUserLimit("guest", LimitPublishBytes))
		}, time.Second, nil},
		"when the client is gone":     {func(_ *testing.T, _ *Broker, done chan struct{}) { close(done) }, time.Second, ErrClosed},
		"when the user is deleted":    {func(t *testing.T, b *Broker, _ chan struct{}) { must(t, b.DeleteUser("guest")) }, time.Second, ErrUserDeleted},
		"when the broker is to close": {func(_ *testing.T, b *Broker, _ chan struct{}) { b.Hurry() }, time.Second, nil},
		"later when the limit is 0": {func(t *testing.T, b *Broker, _ chan struct{}) {
			must(t, b.SetUserLimit("guest", LimitPublishBytes, 0))
			<-time.After(10 * time.Hour)
			must(t, b.SetUserLimit("guest", LimitPublishBytes, -1))
		}, 10*time.Hour + time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := waitFor(t, tc.change)
				if !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if slack := 50 * time.Millisecond; got < tc.want || got > tc.want+slack {
					t.Errorf("it waited %v, want %v", got, tc.want)
				}
			})
		})
	}
}

// A wait ends when the client has disconnected, although nothing reads from its connection.
func TestRatesWaitOfDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		o := SessionOptions{Gone: func() bool { return time.Since(begun) > 10*time.Second }}
		got, err := waitAs(t, o, func(*testing.T, *Broker, chan struct{}) {})
		if !errors.Is(err, ErrClosed) || got < 10*time.Second || got > 12*time.Second {
			t.Errorf("it waited %v: %v", got, err)
		}
	})
}

// Publishes of the operator, moves, and dead letters of a queue are not rate-limited.
func TestRatesDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := inRatedBubble(t)
		defer c.Close()
		must(t, b.SetVHostLimit("/", LimitPublishRate, 1))
		op, err := b.Operate("/")
		must(t, err)
		defer op.Close()
		targets, err := c.Into("q")
		must(t, err)
		moved := func(s *Session) {
			tx := s.NewTx()
			tx.Publish(&shard.Publish{Targets: targets, Env: bareEnvelope("q", []byte("m")), TTL: -1, Reserved: s == c.Session})
			must(t, tx.Commit())
		}
		got := took(func() {
			for range 10 {
				moved(op)
				moved(c.Session)
			}
			c.put("", "q", "the first that counts", nil)
		})
		if got > 0 {
			t.Errorf("it took %v", got)
		}
	})
}
