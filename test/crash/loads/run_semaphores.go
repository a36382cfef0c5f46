package loads

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

const (
	semClients = 4
	maxSemActs = 1500 // per round
)

// crashSemaphores runs clients of semaphores. It is the Run of a Load.
func crashSemaphores(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	r := &semCrashes{t: t, plan: p, up: up, history: &history.Semaphores{}}
	var clock atomic.Int64
	pace := p.pace(1)
	for n := range semClients + 1 {
		r.clients = append(r.clients, &semClient{history: r.history, clock: &clock, rng: p.rng(n + 1), pace: pace, n: n})
	}
	p.rounds(maxSemActs, 3, r.covered, r.crash)
	end := r.finish()
	r.judge(end)
}

// semCrashes is one sequence of kills.
type semCrashes struct {
	t       *testing.T
	up      func() Broker
	plan    Plan
	history *history.Semaphores
	clients []*semClient // the last one changes the settings
}

// start starts the broker and creates what the clients need.
func (r *semCrashes) start() (Broker, *amqp.Channel) {
	r.t.Helper()
	b := r.up()
	ch := channel(r.t, b)
	c := r.connect(b)
	for _, words := range [][]any{
		{"SEM.CREATE", semFixed, "ACTIVE", 3, "TRYRELEASE", 2},
		{"SEM.CREATE", semMoving, "ACTIVE", 2, "TRYRELEASE", 2},
		{"SEM.CREATE", semLeased, "ACTIVE", 2, "TRYRELEASE", 1, "LEASE", 25},
	} {
		if _, _, _, err := c.ask(words...); err != nil {
			r.t.Fatalf("%v\n%s", err, b.Log())
		}
	}
	err := declareQueues(ch, nil, semEvents)
	if err == nil {
		err = ch.QueueBind(semEvents, "#", "semaphore.events", false, nil)
	}
	if err != nil {
		r.t.Fatalf("%v\n%s", err, b.Log())
	}
	return b, ch
}

// crash lets the clients work until they have recorded this many events, and kills the broker.
func (r *semCrashes) crash(acts int) {
	b, _ := r.start()
	enough := r.history.Grown(acts)
	wrong := make(chan error, len(r.clients)+1)
	var killed atomic.Bool
	killed.Store(r.plan.Again)
	var working sync.WaitGroup
	for n, c := range r.clients {
		step := c.step
		if n == semClients {
			step = c.configure
		}
		working.Go(func() {
			if err := c.work(b.RedisAddr(), &killed, step); err != nil {
				wrong <- err
			}
		})
	}
	working.Go(func() {
		if err := listenToSemaphores(r.history, b.URL()); err != nil {
			wrong <- err
		}
	})
	idle := closedAfter(&working)
	trouble := await(b, acts, enough, idle, wrong)
	killed.Store(true)
	b.Kill()
	<-idle
	select {
	case err := <-wrong:
		trouble = err
	default:
	}
	if trouble != nil {
		r.t.Fatalf("%v\nbroker:\n%s", trouble, b.Log())
	}
}

// finish waits until all leases have expired, reads the messages that are left, and returns the
// final state.
func (r *semCrashes) finish() map[string]history.SemEnd {
	b, ch := r.start()
	defer b.Kill()
	c := r.connect(b)
	for n := range semClients {
		for i := range tasksEach {
			if err := c.release(semLeased, fmt.Sprintf("c%d-%d", n, i)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	end := map[string]history.SemEnd{}
	for _, key := range semShared {
		end[key] = r.look(c, key)
	}
	for {
		d, ok, err := ch.Get(semEvents, false)
		if err != nil {
			r.t.Fatalf("%v\n%s", err, b.Log())
		}
		if !ok {
			break
		}
		if err := hear(r.history, d); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
	return end
}

// connect returns a copy of the first client that is connected to b.
func (r *semCrashes) connect(b Broker) *semClient {
	c := *r.clients[0]
	c.redis = newRedis(b.RedisAddr())
	r.t.Cleanup(func() { c.redis.Close() })
	return &c
}

// look returns the final state of a semaphore.
func (r *semCrashes) look(c *semClient, key string) history.SemEnd {
	info, _, _, err := c.ask("SEM.INFO", key)
	if err != nil {
		r.t.Fatal(err)
	}
	tasks, _, _, err := c.ask("SEM.TASKS", key, "COUNT", 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	m := info.(map[any]any)
	end := history.SemEnd{Active: int(m["active"].(int64)), Try: int(m["try_release"].(int64)), Leased: key == semLeased}
	for _, one := range tasks.([]any)[1].([]any) {
		t := one.(map[any]any)
		end.Tasks = append(end.Tasks, history.SemTask{Task: t["task"].(string), Priority: t["priority"].(float64), Status: t["status"].(string)})
	}
	return end
}

// summary counts the requests, the requests without an answer, and the messages by event.
func (r *semCrashes) summary() (requests, unknown int, told map[string]int) {
	told = map[string]int{}
	for _, e := range r.history.Events() {
		switch {
		case e.Kind == history.SemTold:
			told[e.Event]++
			continue
		case !e.Answered():
			unknown++
		}
		requests++
	}
	return requests, unknown, told
}

// covered reports whether there were messages of every event, and requests with an unknown outcome.
func (r *semCrashes) covered() bool {
	_, unknown, told := r.summary()
	return len(told) == 5 && unknown > 0
}

// judge checks the history for breaches.
func (r *semCrashes) judge(end map[string]history.SemEnd) {
	requests, unknown, told := r.summary()
	r.t.Logf("%d requests, %d of them without an answer; messages: %v", requests, unknown, told)
	if r.plan.Rate == 0 && !r.covered() {
		r.t.Error("the run was too short to show anything")
	}
	reportBreaches(r.t, history.CheckSemaphores(r.history.Events(), end))
}
