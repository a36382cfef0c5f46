package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/semaphore/semaphoretest"
)

func serve(t *testing.T, o fiveways.Options) *fiveways.Broker {
	t.Helper()
	o.AMQP, o.Sync = "off", "os"
	if o.Data == "" {
		o.Data = t.TempDir()
	}
	if o.Redis == "" {
		o.Redis = "127.0.0.1:0"
	}
	b, err := fiveways.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Stop(context.Background()) })
	return b
}

func dial(t *testing.T, address string) *semaphore.Manager {
	t.Helper()
	m, err := semaphore.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func crowd(t *testing.T, m *semaphore.Manager, s semaphore.Settings) *semaphore.Semaphore {
	t.Helper()
	c, err := m.GetOrCreate(t.Context(), "crowd", s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClientConformance(t *testing.T) {
	address := serve(t, fiveways.Options{}).RedisURL()
	for name, address := range map[string]string{"RESP3": address, "RESP2": address + "?protocol=2"} {
		t.Run(name, func(t *testing.T) {
			semaphoretest.Conformance(t, semaphoretest.Suite{Open: func(t *testing.T) *semaphore.Manager { return dial(t, address) }})
		})
	}
}

func TestEmbeddedConformance(t *testing.T) {
	b := serve(t, fiveways.Options{})
	semaphoretest.Conformance(t, semaphoretest.Suite{Open: func(*testing.T) *semaphore.Manager { return b.Semaphores() }})
}

// proxy forwards connections to an address, and cuts them on demand.
type proxy struct {
	ln net.Listener
	to string

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	deaf  bool // new connections are closed at once
	busy  sync.WaitGroup
}

func startProxy(t *testing.T, address string) (p *proxy, through string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{to: u.Host, conns: map[net.Conn]struct{}{}}
	if p.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.busy.Go(p.accept)
	t.Cleanup(func() {
		p.ln.Close()
		p.cut(true)
		p.busy.Wait()
	})
	u.Host = p.ln.Addr().String()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		in, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.busy.Go(func() { p.pass(in) })
	}
}

func (p *proxy) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	if p.deaf {
		p.mu.Unlock()
		return
	}
	p.conns[in], p.conns[out] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			io.Copy(way[0], way[1])
			in.Close()
			out.Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, in)
	delete(p.conns, out)
}

// cut closes all connections. If deaf is set, new ones are refused.
func (p *proxy) cut(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
	for c := range p.conns {
		c.Close()
	}
}

// acquired is the result of an acquire.
type acquired struct {
	held context.Context
	err  error
}

func acquire(ctx context.Context, s *semaphore.Semaphore, task string, priority float64) <-chan acquired {
	got := make(chan acquired, 1)
	go func() {
		held, err := s.Acquire(ctx, task, priority)
		got <- acquired{held, err}
	}()
	return got
}

// stands waits until another client sees a task with a status.
func stands(t *testing.T, s *semaphore.Semaphore, task string, want semaphore.Status) {
	t.Helper()
	for {
		got, err := s.Status(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == want {
			return
		}
	}
}

// TestConnectionsBreak checks that changes during a broken connection are detected on the next one.
func TestConnectionsBreak(t *testing.T) {
	b := serve(t, fiveways.Options{})
	direct := b.Semaphores()
	defer direct.Close()
	there := crowd(t, direct, semaphore.Settings{Active: new(1), TryRelease: new(1)})
	p, through := startProxy(t, b.RedisURL())
	here := dial(t, through).Semaphore("crowd")
	first, err := here.Acquire(t.Context(), "first", 1)
	if err != nil {
		t.Fatal(err)
	}
	second := acquire(t.Context(), here, "second", 1)
	stands(t, there, "second", semaphore.Wait)
	events, err := here.Watch(t.Context(), semaphore.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.cut(true)
	if _, err := there.Enqueue(t.Context(), "other", 2); err != nil { // the task first is asked to give way
		t.Fatal(err)
	}
	if _, err := there.Release(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Release(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	p.cut(false)
	<-first.Done()
	if cause := context.Cause(first); !errors.Is(cause, semaphore.ErrReleased) {
		t.Errorf("the first: %v, want ErrReleased", cause)
	}
	if got := <-second; got.err != nil || got.held.Err() != nil {
		t.Errorf("the second: %v", got.err)
	}
	if e := <-events; e.Kind != semaphore.EventMissed {
		t.Errorf("%+v, want that something was missed", e)
	}
	if _, err := there.Enqueue(t.Context(), "other", 2); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.Kind != semaphore.EventTryRelease || e.Task != "second" {
		t.Errorf("%+v, want that the second is asked", e)
	}
}

// TestBrokerComesBack checks that an acquire waits through a restart of the broker.
func TestBrokerComesBack(t *testing.T) {
	o := fiveways.Options{Data: t.TempDir()}
	b := serve(t, o)
	address := b.RedisURL()
	s := crowd(t, dial(t, address), semaphore.Settings{Active: new(1), Lease: new(time.Hour)})
	held, err := s.Acquire(t.Context(), "holds", 2)
	if err != nil {
		t.Fatal(err)
	}
	waits := acquire(t.Context(), s, "waits", 1)
	stands(t, s, "waits", semaphore.Wait)
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Status(t.Context(), "holds"); err == nil || errors.Is(err, semaphore.ErrClosed) || errors.Is(err, semaphore.ErrNotFound) {
		t.Errorf("the broker that is gone answers: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	o.Redis = u.Host
	serve(t, o)
	if _, err := s.Release(t.Context(), "holds"); err != nil {
		t.Fatal(err)
	}
	if cause := context.Cause(held); !errors.Is(cause, semaphore.ErrReleased) {
		t.Error(cause)
	}
	if got := <-waits; got.err != nil {
		t.Error(got.err)
	}
}

// TestRefusals checks that error replies of the broker are returned as errors.
func TestRefusals(t *testing.T) {
	address := serve(t, fiveways.Options{}).RedisURL()
	wrong := dial(t, strings.Replace(address, "guest:guest", "guest:wrong", 1))
	for name, call := range map[string]func(*semaphore.Semaphore) error{
		"acquire": func(s *semaphore.Semaphore) error { _, err := s.Acquire(t.Context(), "t", 1); return err },
		"enqueue": func(s *semaphore.Semaphore) error { _, err := s.Enqueue(t.Context(), "t", 1); return err },
		"watch": func(s *semaphore.Semaphore) error {
			_, err := s.Watch(t.Context(), semaphore.WatchOptions{})
			return err
		},
	} {
		if err := call(wrong.Semaphore("crowd")); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
			t.Errorf("%s with a wrong password: %v", name, err)
		}
		nowhere := dial(t, "redis://127.0.0.1:1")
		if err := call(nowhere.Semaphore("crowd")); err == nil || !strings.Contains(err.Error(), "cannot reach the broker") {
			t.Errorf("%s of no broker: %v", name, err)
		}
	}
	for _, address := range []string{"", "amqp://localhost", "redis://%zz", "127.0.0.1:6380"} {
		if _, err := semaphore.Dial(address); !errors.Is(err, semaphore.ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", address, err)
		}
	}
}

func Example() {
	b, err := fiveways.Start(fiveways.Options{Data: exampleFolder(), AMQP: "off", Redis: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Stop(context.Background())

	semaphores, err := semaphore.Dial(b.RedisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer semaphores.Close()
	ctx := context.Background()
	crowd, err := semaphores.GetOrCreate(ctx, "crowd", semaphore.Settings{Active: new(1), TryRelease: new(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := crowd.Acquire(ctx, "task-1", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	status, _ := crowd.Enqueue(ctx, "task-2", 7) // higher priority
	fmt.Println("task-2:", status)
	<-held.Done()
	fmt.Println(context.Cause(held))
	crowd.Release(ctx, "task-1")
	next, _ := crowd.Status(ctx, "task-2")
	fmt.Println("task-2:", next.Status)
	// Output:
	// task-2: WAIT
	// semaphore: the task is asked to give way
	// task-2: ACQUIRED
}

// TestBrokerIsBack checks that the first request after the broker is back succeeds, however many
// failed before.
func TestBrokerIsBack(t *testing.T) {
	o := fiveways.Options{Data: t.TempDir()}
	b := serve(t, o)
	address := b.RedisURL()
	s := crowd(t, dial(t, address), semaphore.Settings{Active: new(1)})
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 30 * runtime.GOMAXPROCS(0) { // go-redis has ten connections per processor
		if _, err := s.Status(t.Context(), "task"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("there is nobody, and the answer is %v", err)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	o.Redis = u.Host
	serve(t, o)
	if _, err := s.Status(t.Context(), "task"); err != nil {
		t.Error(err)
	}
}
