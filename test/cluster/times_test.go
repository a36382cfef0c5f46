package cluster

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/clustertest"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// atOnce is how many items one request or one batch of confirms covers.
const atOnce = 5000

// loads are functions that fill a cluster before its leader is killed.
var loads = map[string]func(t *testing.T, c *clustertest.Cluster, count int){
	"messages": func(t *testing.T, c *clustertest.Cluster, count int) {
		ch := dial(t, c, 0)
		_, err := ch.QueueDeclare("load", true, false, false, false, nil)
		must(t, err)
		for range count / atOnce {
			var last *amqp.DeferredConfirmation
			for range atOnce {
				last, err = ch.PublishWithDeferredConfirm("", "load", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: make([]byte, 100)})
				must(t, err)
			}
			if ok, err := last.WaitContext(t.Context()); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	},
	"sql": func(t *testing.T, c *clustertest.Cluster, count int) {
		db, err := pgx.Connect(t.Context(), "postgres://guest@"+c.Nodes[0].SQLAddr()+"/fiveways?sslmode=disable")
		must(t, err)
		defer db.Close(t.Context()) //nolint:errcheck // it is no longer needed
		_, err = db.Exec(t.Context(), "select mbus4.create_queue('load', 4)")
		must(t, err)
		for range count / atOnce {
			_, err = db.Exec(t.Context(), "select count(mbus4.post('load', 'n=>1')) from generate_series(1, $1::int)", atOnce)
			must(t, err)
		}
	},
	"jobs": func(t *testing.T, c *clustertest.Cluster, count int) {
		r := redis.NewClient(&redis.Options{Addr: c.Nodes[0].RedisAddr()})
		defer r.Close()
		for range count / atOnce {
			pipe := r.Pipeline()
			for range atOnce {
				pipe.Do(t.Context(), "JOB.ENQUEUE", "load", "hello")
			}
			_, err := pipe.Exec(t.Context())
			must(t, err)
		}
	},
	"tasks": func(t *testing.T, c *clustertest.Cluster, count int) {
		r := redis.NewClient(&redis.Options{Addr: c.Nodes[0].RedisAddr()})
		defer r.Close()
		must(t, r.Do(t.Context(), "SEM.CREATE", "load", "ACTIVE", 100).Err())
		for n := range count / atOnce {
			words := []any{"SEM.ENQUEUE", "load"}
			for i := range atOnce {
				words = append(words, n*atOnce+i, i)
			}
			must(t, r.Do(t.Context(), words...).Err())
		}
	},
}

// TestFailoverTimes kills the leader FAILOVERS times and logs how long a client of another node,
// which reconnects at once, got no confirm. FAILOVER_LOAD lists what the cluster holds meanwhile,
// some of loads separated by commas, each FAILOVER_COUNT (default 1,000,000) times.
func TestFailoverTimes(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("FAILOVERS"))
	if tries == 0 {
		t.Skip("a measurement: FAILOVERS says how many times the leader is killed")
	}
	count := 1_000_000
	if text := os.Getenv("FAILOVER_COUNT"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		must(t, err)
	}
	c := clustertest.Start(t, all...)
	if names := os.Getenv("FAILOVER_LOAD"); names != "" {
		for name := range strings.SplitSeq(names, ",") {
			loads[name](t, c, count)
		}
	}
	_, err := dial(t, c, 0).QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	var took []time.Duration
	for try := range tries {
		settled(c)
		leader := c.Leader()
		other := (leader + 1 + try%2) % 3
		if !publish(t, dial(t, c, other), "before") {
			t.Fatal("not confirmed")
		}
		c.Kill(leader)
		killed := time.Now()
		for confirmed := false; !confirmed; {
			if ch, err := connect(t, c.Nodes[other].Broker); err == nil {
				confirmed = publish(t, ch, "after")
			}
		}
		took = append(took, time.Since(killed))
		c.Up(leader)
	}
	slices.Sort(took)
	at := func(part float64) string {
		return fmt.Sprintf("%.2f", took[min(len(took)-1, int(part*float64(len(took))))].Seconds())
	}
	fmt.Printf("%d kills: %s to %s s without a confirm, p50 %s, p90 %s, p99 %s\n", tries, at(0), at(1), at(.5), at(.9), at(.99))
}

// settled waits until all nodes are voters and have the whole log.
func settled(c *clustertest.Cluster) {
	c.Until("all nodes have the whole log", func() bool {
		s := c.Status(c.Leader())
		up := 0
		for i := range s.Members {
			m := &s.Members[i]
			if lag, known := s.Lag(m); known && lag == 0 && m.Up && m.Votes() && m.About != nil {
				up++
			}
		}
		return up == len(s.Members)
	})
}
