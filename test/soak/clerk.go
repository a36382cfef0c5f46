package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/crash/history"
	"fiveways.dev/fiveways/test/crash/loads"
)

const (
	clerkQueue = "soak.http"
	clerkEvery = 50 * time.Millisecond
	clerkLease = 20 * time.Second // a take whose answer is lost in a kill keeps its messages so long
)

// clerk is the HTTP load. It posts messages, sometimes takes some, and acknowledges them.
type clerk struct {
	history history.Messages
	seq     int
	left    int // approximate number of unacknowledged messages
}

// clerkLoad is the Run of a load. up returns visits.
func clerkLoad(t *testing.T, p loads.Plan, up func() loads.Broker) {
	c := &clerk{}
	for range p.Rounds {
		if err := c.round(t.Context(), up().(*visit)); err != nil {
			t.Fatal(err)
		}
	}
	v := up().(*visit)
	defer v.Kill()
	if err := c.drain(t.Context(), v.HTTPAddr()); err != nil {
		t.Fatalf("drain: %v\n%s", err, v.Log())
	}
	if err := v.Stop(); err != nil {
		t.Error(err)
	}
	events := c.history.Events()
	t.Logf("%d messages posted, %d events", c.seq, len(events))
	for _, breach := range history.Delayed.Check(events) { // an expired lease returns a message out of order
		t.Error(breach)
	}
}

// round works until the broker is killed.
func (c *clerk) round(ctx context.Context, v *visit) error {
	defer v.Kill()
	var killed atomic.Bool
	done := make(chan error, 1)
	go func() {
		err := ask(ctx, v.HTTPAddr(), http.MethodPut, "/api/queues/%2F/"+clerkQueue, map[string]any{"durable": true}, nil)
		for err == nil {
			err = c.step(ctx, v.HTTPAddr())
		}
		if killed.Load() {
			err = nil
		}
		done <- err
	}()
	select {
	case <-v.Due():
		killed.Store(true)
	case <-v.Exited():
		return errors.New("the broker died by itself")
	case err := <-done:
		return err
	}
	v.Kill()
	c.history.Add(history.Event{Kind: history.Crashed, At: time.Now().UnixMilli()})
	return <-done
}

// step posts a message. Once there are enough, it also takes some.
func (c *clerk) step(ctx context.Context, addr string) error {
	<-time.After(clerkEvery)
	c.seq++
	id := history.MsgID{Publisher: "clerk", Seq: c.seq}
	c.history.Add(history.Event{Kind: history.Sent, Msg: id, Queue: clerkQueue})
	message := map[string]any{"payload": fmt.Sprint(c.seq)}
	if err := ask(ctx, addr, http.MethodPost, "/api/queues/%2F/"+clerkQueue+"/messages", message, nil); err != nil {
		return err
	}
	c.history.Add(history.Event{Kind: history.Confirmed, Msg: id})
	if c.left++; c.left < 10 {
		return nil
	}
	_, err := c.take(ctx, addr)
	return err
}

// take takes up to 20 messages, acknowledges them, and returns their number.
func (c *clerk) take(ctx context.Context, addr string) (n int, err error) {
	var took struct {
		Messages []struct {
			Payload, Token string
			Redelivered    bool
		}
	}
	path := fmt.Sprintf("/api/queues/%%2F/%s/messages/take?count=20&lease=%s", clerkQueue, clerkLease)
	if err := ask(ctx, addr, http.MethodPost, path, nil, &took); err != nil {
		return 0, err
	}
	var acked []history.Event
	taken := map[string]history.MsgID{} // by token
	for _, m := range took.Messages {
		id := history.MsgID{Publisher: "clerk"}
		if _, err := fmt.Sscan(m.Payload, &id.Seq); err != nil {
			return 0, fmt.Errorf("message %q: %w", m.Payload, err)
		}
		c.history.Add(history.Event{
			Kind: history.Delivered, Msg: id, Queue: clerkQueue, Redelivered: m.Redelivered, At: time.Now().UnixMilli(),
		})
		acked = append(acked, history.Event{Kind: history.Acked, Msg: id, Queue: clerkQueue})
		taken[m.Token] = id
	}
	c.left -= len(taken)
	if len(taken) == 0 {
		c.left = 0
		return 0, nil
	}
	c.history.Add(acked...)
	var answer struct{ Stale []string }
	tokens := map[string]any{"tokens": slices.Collect(maps.Keys(taken))}
	err = ask(ctx, addr, http.MethodPost, "/api/queues/%2F/"+clerkQueue+"/messages/ack", tokens, &answer)
	for _, token := range answer.Stale { // the machine stood still for longer than the lease
		c.history.Add(history.Event{Kind: history.Requeued, Msg: taken[token], Queue: clerkQueue})
	}
	return len(taken), err
}

// drain takes all messages, including those that are leased to a take that a kill interrupted.
func (c *clerk) drain(ctx context.Context, addr string) error {
	for {
		n, err := c.take(ctx, addr)
		if err != nil {
			return err
		}
		var queue struct{ Messages int }
		if err := ask(ctx, addr, http.MethodGet, "/api/queues/%2F/"+clerkQueue+"?disable_stats=true", nil, &queue); err != nil {
			return err
		}
		if n == 0 && queue.Messages == 0 {
			return nil
		}
		if n == 0 {
			<-time.After(clerkEvery)
		}
	}
}
