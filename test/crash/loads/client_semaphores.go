package loads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/crash/history"
)

// The semaphores of a run, and the queue of all their events.
const (
	semFixed  = "fixed"  // never configured
	semMoving = "moving" // configured all the time
	semLeased = "leased" // its tasks expire when their client does not renew them
	semBrief  = "brief"  // created and deleted all the time

	semEvents = "crash.semaphores"
)

var semShared = []string{semFixed, semMoving, semLeased}

// semClient is a program with its own tasks. It exists for all rounds.
type semClient struct {
	history *history.Semaphores
	clock   *atomic.Int64 // shared by all clients
	rng     *rand.Rand
	pace    *pace
	n       int
	redis   *redis.Client
}

// ask sends a command and returns its reply and when it was sent and answered. A to of 0 means that
// the outcome is unknown.
func (c *semClient) ask(words ...any) (reply any, from, to int64, err error) {
	from = c.clock.Add(1)
	reply, err = c.redis.Do(context.Background(), words...).Result()
	to = c.clock.Add(1)
	var refused redis.Error
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		return reply, from, to, nil
	case diskFull(err): // the command had no effect
	case errors.As(err, &refused):
		return nil, from, to, refusal(fmt.Sprintf("%v: %s", words, refused))
	}
	return nil, from, 0, err
}

// work calls step in a loop until the broker is killed.
func (c *semClient) work(addr string, killed *atomic.Bool, step func() error) error {
	c.redis = newRedis(addr)
	defer c.redis.Close()
	err := untilKilled(c.redis, killed, func() error {
		c.pace.wait()
		return step()
	})
	if err != nil {
		return fmt.Errorf("client %d: %w", c.n, err)
	}
	return nil
}

// tasksEach is how many tasks a client has in each semaphore.
const tasksEach = 4

// task returns a task, the last one in one of 16 cases, so that leases expire even if the clients
// are quick.
func (c *semClient) task() string {
	n := c.rng.IntN(tasksEach) * c.rng.IntN(tasksEach) / (tasksEach - 1)
	return fmt.Sprintf("c%d-%d", c.n, n)
}

// step sends one request about tasks.
func (c *semClient) step() error {
	key := semShared[c.rng.IntN(len(semShared))]
	switch n := c.rng.IntN(100); {
	case n < 45:
		return c.enqueue(key, 1)
	case n < 55:
		return c.enqueue(key, 3)
	case n < 85:
		return c.release(key, c.task())
	}
	return c.see(key, c.task())
}

// enqueue enqueues up to n tasks, or changes their priorities.
func (c *semClient) enqueue(key string, n int) error {
	words := []any{"SEM.ENQUEUE", key}
	var events []history.SemEvent
	for range n {
		e := history.SemEvent{Kind: history.SemEnqueued, Key: key, Task: c.task(), Priority: float64(c.rng.IntN(6))}
		if slices.ContainsFunc(events, func(have history.SemEvent) bool { return have.Task == e.Task }) {
			continue
		}
		words = append(words, e.Task, e.Priority)
		events = append(events, e)
	}
	reply, from, to, err := c.ask(words...)
	for i := range events {
		events[i].From, events[i].To = from, to
		if err == nil {
			events[i].Status = text(reply.([]any)[i])
		}
	}
	c.history.Add(events...)
	return err
}

func (c *semClient) release(key, task string) error {
	e := history.SemEvent{Kind: history.SemReleased, Key: key, Task: task}
	reply, from, to, err := c.ask("SEM.RELEASE", key, e.Task)
	e.From, e.To, e.Was = from, to, reply == int64(1)
	c.history.Add(e)
	return err
}

func (c *semClient) see(key, task string) error {
	e := history.SemEvent{Kind: history.SemSeen, Key: key, Task: task}
	reply, from, to, err := c.ask("SEM.STATUS", key, e.Task)
	if e.From, e.To = from, to; err == nil {
		e.Status = text(reply.([]any)[0])
		c.history.Add(e)
	}
	return err
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// configure changes settings, or creates a semaphore, fills it and deletes it.
func (c *semClient) configure() error {
	e := history.SemEvent{Kind: history.SemConfigured, Key: semMoving, Active: c.rng.IntN(7), Try: c.rng.IntN(7)}
	_, from, to, err := c.ask("SEM.SET", e.Key, "ACTIVE", e.Active, "TRYRELEASE", e.Try)
	e.From, e.To = from, to
	c.history.Add(e)
	if err != nil {
		return err
	}
	words := []any{"SEM.ENQUEUE", semBrief}
	for i := range 2 + c.rng.IntN(8) {
		words = append(words, fmt.Sprint("b", i), c.rng.IntN(6))
	}
	for _, words := range [][]any{{"SEM.CREATE", semBrief, "ACTIVE", 3}, words, {"SEM.DEL", semBrief}} {
		e = history.SemEvent{Kind: history.SemDeleted, Key: semBrief}
		if _, e.From, e.To, err = c.ask(words...); err != nil {
			return err
		}
	}
	c.history.Add(e)
	return nil
}

// listenToSemaphores receives the event messages until the broker is gone.
func listenToSemaphores(h *history.Semaphores, url string) error {
	conn, err := amqp.Dial(url)
	if err != nil {
		return nil
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Qos(prefetch, 0, false) != nil {
		return nil
	}
	deliveries, err := ch.Consume(semEvents, "", false, false, false, false, nil)
	if err != nil {
		return nil
	}
	for d := range deliveries {
		if err := hear(h, d); err != nil {
			return err
		}
	}
	return nil
}

// hear records one message and acknowledges it.
func hear(to *history.Semaphores, d amqp.Delivery) error {
	h := d.Headers
	e := history.SemEvent{Kind: history.SemTold, Key: text(h["key"]), Task: text(h["task"]), Event: text(h["event"]), Again: d.Redelivered}
	e.Seq, _ = h["seq"].(int64)
	e.Content = fmt.Sprint(h, " ", string(d.Body), " ", d.RoutingKey)
	number, seq, _ := strings.Cut(d.MessageId, "-")
	e.Semaphore = number
	if seq != fmt.Sprint(e.Seq) || d.RoutingKey != e.Key+"."+e.Event {
		return fmt.Errorf("message %s with key %s: %s", d.MessageId, d.RoutingKey, e.Content)
	}
	to.Add(e)
	d.Ack(false) //nolint:errcheck // if it fails, the message is redelivered
	return nil
}
