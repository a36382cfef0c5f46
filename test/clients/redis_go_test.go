package clients

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// told compares a reply, or its error, as text.
func told(t *testing.T, got any, err error, want string) {
	t.Helper()
	text := fmt.Sprint(got)
	if err != nil {
		text = err.Error()
	}
	if text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func goLists(t *testing.T, r *redis.Client) {
	ctx := t.Context()
	told(t, "", r.Del(ctx, "go.list", "go.done").Err(), "")
	n, err := r.LPush(ctx, "go.list", "a", "b", "c").Result()
	told(t, n, err, "3")
	all, err := r.LRange(ctx, "go.list", 0, -1).Result()
	told(t, all, err, "[c b a]")
	s, err := r.RPop(ctx, "go.list").Result()
	told(t, s, err, "a")
	s, err = r.LMove(ctx, "go.list", "go.done", "RIGHT", "LEFT").Result()
	told(t, s, err, "b")
	all, err = r.BRPop(ctx, 5*time.Second, "go.none", "go.list").Result()
	told(t, all, err, "[go.list c]")
	s, err = r.Type(ctx, "go.done").Result()
	told(t, s, err, "list")
	s, err = r.RPop(ctx, "go.none").Result()
	told(t, s, err, "redis: nil")
	s, err = r.ClientGetName(ctx).Result()
	told(t, s, err, "go")
}

func goTransactions(t *testing.T, r *redis.Client) {
	ctx := t.Context()
	cmds, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.LPush(ctx, "go.a", "1")
		p.RPop(ctx, "go.a")
		return nil
	})
	if err != nil || len(cmds) != 2 || cmds[1].(*redis.StringCmd).Val() != "1" {
		t.Errorf("%v, %v", cmds, err)
	}
	err = r.Watch(ctx, func(tx *redis.Tx) error {
		if err := r.LPush(ctx, "go.b", "3").Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.LPush(ctx, "go.b", "4").Err() })
		return err
	}, "go.b")
	if !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("a transaction went through though its queue had changed: %v", err)
	}
}

func goChannels(t *testing.T, r *redis.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
	defer cancel()
	listener := r.Subscribe(ctx, "go.news")
	defer listener.Close()
	if _, err := listener.Receive(ctx); err != nil {
		t.Error(err)
		return
	}
	n, err := r.Publish(ctx, "go.news", "hello").Result()
	told(t, n, err, "1")
	m, err := listener.ReceiveMessage(ctx)
	told(t, m, err, "Message<go.news: hello>")
}

func goJobs(t *testing.T, r *redis.Client) {
	ctx := t.Context()
	got, err := r.Do(ctx, "JOB.ENQUEUE", "go.jobs", "work", "ID", "m1").Result()
	told(t, got, err, "[added m1]")
	if err := r.Do(ctx, "JOB.ENQUEUE", "go.jobs", "work", "ID", "m1").Err(); err == nil || !strings.HasPrefix(err.Error(), "ALREADYQUEUED") {
		t.Error(err)
	}
	got, err = r.Do(ctx, "JOB.STATUS", "go.jobs", "m1").Result()
	told(t, got, err, "queued")
	got, err = r.Do(ctx, "JOB.CANCEL", "go.jobs", "m1").Result()
	told(t, got, err, "1")
}

func goStreams(t *testing.T, r *redis.Client) {
	ctx := t.Context()
	told(t, "", r.Del(ctx, "go.stream").Err(), "")
	id, err := r.XAdd(ctx, &redis.XAddArgs{Stream: "go.stream", Values: []string{"n", "1"}}).Result()
	must(t, err)
	n, err := r.XLen(ctx, "go.stream").Result()
	told(t, n, err, "1")
	s, err := r.XGroupCreate(ctx, "go.stream", "g", "0").Result()
	told(t, s, err, "OK")
	got, err := r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "me", Streams: []string{"go.stream", ">"}}).Result()
	if err != nil || len(got) != 1 || len(got[0].Messages) != 1 || got[0].Messages[0].ID != id {
		t.Errorf("%v, %v", got, err)
	}
	n, err = r.XAck(ctx, "go.stream", "g", id).Result()
	told(t, n, err, "1")
	pending, err := r.XPending(ctx, "go.stream", "g").Result()
	if err != nil || pending.Count != 0 {
		t.Errorf("%v, %v", pending, err)
	}
}
