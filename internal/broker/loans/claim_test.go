package loans

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// holder is a transaction of a test and its holdings.
type holder struct {
	client
	Transaction
	holds Holdings
}

func newHolder(t *testing.T, b *broker.Broker, m *Manager) *holder {
	h := &holder{client: newClient(t, b)}
	h.Transaction = Transaction{Manager: m, Holdings: func() Holdings { return h.holds }}
	return h
}

func (h *holder) claims(name string) *Claim {
	h.T.Helper()
	c, fresh, err := h.Claim(context.Background(), h.Session, name)
	if !fresh || err != nil {
		h.T.Fatal(name, fresh, err)
	}
	h.holds.Claims = append(h.holds.Claims, c)
	return c
}

// claiming runs Claim in a goroutine and returns once that waits. It must run in a synctest bubble.
func (h *holder) claiming(ctx context.Context, name string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, _, err := h.Claim(ctx, h.Session, name)
		done <- err
	}()
	synctest.Wait()
	return done
}

func TestClaims(t *testing.T) { synctest.Test(t, testClaims) }

func testClaims(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	var m Manager
	one, two := newHolder(t, b, &m), newHolder(t, b, &m)
	x := one.claims("x")
	if again, fresh, err := one.Claim(t.Context(), one.Session, "x"); again != x || fresh || err != nil {
		t.Error("its own claim", fresh, err)
	}
	y := two.claims("y")
	done := two.claiming(t.Context(), "x")
	if _, _, err := one.Claim(t.Context(), one.Session, "y"); !errors.Is(err, failure.ErrDeadlock) {
		t.Errorf("two that wait for each other: %v", err)
	}
	x.Release()
	x.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	(*Claim)(nil).Release()

	// The end of ctx and that of the session end the wait.
	one.holds = Holdings{Claims: []*Claim{x}}
	ctx, cancel := context.WithCancel(t.Context())
	done = one.claiming(ctx, "y")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done = one.claiming(t.Context(), "y")
	one.Close()
	if err := <-done; err != failure.ErrClosed {
		t.Error(err)
	}
	if _, _, err := one.Claim(t.Context(), one.Session, "z"); err != failure.ErrClosed {
		t.Error(err)
	}
	y.Release()
	two.claims("y")
}

// Two sessions wait for each other's claim and message; one of them gets the deadlock error.
func TestDeadlockOverAMessage(t *testing.T) { synctest.Test(t, testDeadlockOverAMessage) }

func testDeadlockOverAMessage(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	var m Manager
	one, two := newHolder(t, b, &m), newHolder(t, b, &m)
	one.Queue("q", ordered)
	one.named("q", "a", nil)
	d := one.acquires("q", "a")
	one.holds.Loans = []shard.Loan{{Queue: d.Queue, Handle: d.Handle}}
	x := two.claims("x")
	done := two.acquiring(t.Context(), "q", "a", &two.Transaction)
	synctest.Wait()
	if _, _, err := one.Claim(t.Context(), one.Session, "x"); !errors.Is(err, failure.ErrDeadlock) {
		t.Errorf("a circle: %v", err)
	}
	if used, err := InUse(t.Context(), one.Session, "q", "a", one.holds.Loans, &one.Transaction); used || err != nil {
		t.Errorf("its own message: %v, %v", used, err)
	}
	one.ack(d)
	if got := <-done; got != "none" {
		t.Error(got)
	}
	x.Release()
}

// InUse waits for a lent message, and reports whether one exists.
func TestInUse(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.Queue("q", ordered)
	c.Queue("plain", nil)
	for _, name := range []string{"q", "plain"} {
		c.named(name, "a", nil)
	}
	for name, want := range map[string]bool{"q": true, "plain": false, "nowhere": false} {
		if used, err := InUse(t.Context(), c.Session, name, "a", nil, nil); used != want || err != nil {
			t.Errorf("%s: %v, %v", name, used, err)
		}
	}
	for _, released := range []bool{true, false} {
		d := c.acquires("q", "a")
		done := make(chan bool)
		go func() {
			used, err := InUse(t.Context(), other.Session, "q", "a", nil, nil)
			if err != nil {
				t.Error(err)
			}
			done <- used
		}()
		for c.waiting("q") == 0 {
		}
		if released {
			c.release(d)
		} else {
			c.ack(d)
		}
		if used := <-done; used != released {
			t.Errorf("released %v: used %v", released, used)
		}
	}
}
