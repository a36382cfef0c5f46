package crash

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

// TestClusterFaults injects faults of nodes, disks and connections into a cluster of three nodes
// while clients work with messages, keys, jobs, SQL transactions and semaphores. It runs
// FAULT_SEEDS (default 1) seeds, beginning with FAULT_SEED (default random). Each seed has its own
// cluster, and FAULT_ROUNDS (default 2) faults for each load. FAULT_KINDS, a regular expression,
// limits the faults by name. FAULT_LOADS, a list separated by commas, limits the loads. It may
// contain at most one of the message loads, because their queues have the same names.
func TestClusterFaults(t *testing.T) {
	seeds, first := setting(t, "FAULT_SEEDS", 1), setting(t, "FAULT_SEED", 1+rand.IntN(1_000_000))
	rounds := setting(t, "FAULT_ROUNDS", 2)
	t.Logf("FAULT_SEEDS=%d FAULT_SEED=%d FAULT_ROUNDS=%d", seeds, first, rounds)
	total := map[string]int{}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint("seed_", seed), func(t *testing.T) {
			c := newTrouble(t, seed)
			plan := loads.Plan{Rounds: rounds, Seed: seed, Again: true}
			defer func() {
				for name, n := range c.struck {
					total[name] += n
				}
			}()
			for _, name := range loadsOf(seed) {
				if !t.Failed() {
					loads.Find(t, name).Run(t, plan, func() loads.Broker { return c.next() })
				}
			}
			if !t.Failed() {
				c.compare()
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%3d times: %s", total[name], name)
	}
}

// loadsOf returns the names of the loads that run for a seed.
func loadsOf(seed int) []string {
	if names := os.Getenv("FAULT_LOADS"); names != "" {
		return strings.Split(names, ",")
	}
	return []string{[]string{"plain", "grouped", "once", "delayed"}[seed%4], "keys", "jobs", "sql", "semaphores"}
}

// trouble is a cluster into which faults are injected.
type trouble struct {
	t *testing.T
	*clustertest.Cluster
	disks  []string // of the nodes; empty if they cannot be filled or frozen
	rng    *rand.Rand
	kinds  []fault
	drawn  []fault // the faults left to draw before any is repeated
	struck map[string]int
}

func newTrouble(t *testing.T, seed int) *trouble {
	t.Helper()
	c := &trouble{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 1)), kinds: slices.Clone(faults), struck: map[string]int{}}
	var folders []string
	for range 3 {
		disk, err := brokertest.FreezableDisk(t, "1G") // room for two copies
		if errors.Is(err, brokertest.ErrNoMount) {
			t.Logf("no faults of disks: %v", err)
			c.disks, folders = nil, nil
			break
		}
		must(t, err)
		c.disks, folders = append(c.disks, disk), append(folders, filepath.Join(disk, "data"))
	}
	names, err := regexp.Compile(os.Getenv("FAULT_KINDS"))
	must(t, err)
	c.kinds = slices.DeleteFunc(c.kinds, func(f fault) bool { return f.disk && c.disks == nil || !names.MatchString(f.name) })
	if len(c.kinds) == 0 {
		t.Fatalf("FAULT_KINDS=%q is the name of no fault", names)
	}
	c.Cluster = clustertest.Linked(t, folders, "--shards", "3", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--disk-free-limit", "1MiB")
	return c
}

// next draws the next fault.
func (c *trouble) next() *faulty {
	c.t.Helper()
	if len(c.drawn) == 0 {
		c.drawn = slices.Clone(c.kinds)
		c.rng.Shuffle(len(c.drawn), func(i, j int) { c.drawn[i], c.drawn[j] = c.drawn[j], c.drawn[i] })
	}
	f := &faulty{trouble: c, fault: c.drawn[0], hit: c.Leader()}
	c.drawn = c.drawn[1:]
	if !f.leader {
		f.hit = (f.hit + 1 + c.rng.IntN(2)) % 3
	}
	f.client = f.hit
	if c.rng.IntN(3) == 0 {
		f.client = c.rng.IntN(3)
	}
	for i := range c.Nodes {
		n := c.Nodes[(f.client+i)%3]
		f.amqp = append(f.amqp, c.Network.Open(c.t, n.Addr()))
		f.sql = append(f.sql, c.Network.Open(c.t, n.SQLAddr()))
		f.redis = append(f.redis, c.Network.Open(c.t, n.RedisAddr()))
		f.etcd = append(f.etcd, c.Network.Open(c.t, n.EtcdAddr()))
	}
	return f
}

// faulty is a cluster that works until Kill, which injects a fault and repairs it.
type faulty struct {
	*trouble
	fault
	hit, client            int                 // indexes of the node hit, and of the clients' node
	amqp, sql, redis, etcd []*clustertest.Door // of the nodes, the clients' node first
	isolated               func()              // set by OnIsolated
	mend                   func()
	looks                  *looker // nil if the fault does not isolate the node
	once                   sync.Once

	mu    sync.Mutex
	turns int // guarded by mu
}

func (f *faulty) URL() string { return "amqp://guest:guest@" + f.amqp[0].Addr() + "/%2f" }

// SQLAddr returns the address of the node that URL names.
func (f *faulty) SQLAddr() string { return f.sql[0].Addr() }

// RedisAddr returns the address of another node with each call, as EtcdAddr does. So some clients
// continue while a faulty node blocks the others.
func (f *faulty) RedisAddr() string { return f.redis[f.turn()].Addr() }

func (f *faulty) EtcdAddr() string { return f.etcd[f.turn()].Addr() }

func (f *faulty) turn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns++
	return f.turns % 3
}

var _ loads.Isolating = (*faulty)(nil) // the loads check for it

// OnIsolated sets a function that is called once the fault has begun, if the node must not answer
// its clients from then on.
func (f *faulty) OnIsolated(isolated func()) { f.isolated = isolated }

// Exited implements Broker. It returns nil: nodes that exit unexpectedly are found after the fault.
func (f *faulty) Exited() <-chan struct{} { return nil }

func (f *faulty) Log() string { return logOf(f.Cluster) }

// Kill injects the fault. When it returns, the fault is repaired, all nodes have the same state,
// and no client is connected.
func (f *faulty) Kill() {
	f.once.Do(func() {
		f.t.Logf("%s (node %d, clients at node %d)", f.name, f.hit, f.client)
		f.struck[f.name]++
		silences := f.isolates && f.leads(f.hit)
		if silences {
			if err := f.look(); err != nil {
				f.t.Log("deliveries are not looked at: ", err)
			}
		}
		begun := time.Now()
		f.strike(f)
		if silences && f.isolated != nil && f.client == f.hit {
			f.isolated()
		}
		f.served(begun)
		<-time.After(time.Until(begun.Add(f.hold)))
		f.recover()
	})
}

// recover ends the fault and closes all connections.
func (f *faulty) recover() {
	if f.mend != nil {
		f.mend()
	}
	f.Network.Heal()
	if f.isolates { // the node may still answer its clients
		f.Until("the node does not lead any more", func() bool { return !f.leads(f.hit) })
	}
	if f.looks != nil {
		f.looks.end(f.t)
	}
	f.closeDoors()
	for i, n := range f.Nodes {
		if n.Broker == nil {
			f.Up(i)
		}
	}
	f.allRun()
	f.converge()
}

// allRun checks that all nodes are running.
func (c *trouble) allRun() {
	c.t.Helper()
	for i, n := range c.Nodes {
		if ended(n.Broker) {
			c.t.Fatalf("node %d has ended by itself:\n%s", i, n.Log())
		}
	}
}

// compareWithin is an upper bound of the time after which a new leader has had the others compare
// their states with its own.
const compareWithin = 2 * time.Second

// compare makes all nodes compare their states. A node whose state differs from the leader's exits.
func (c *trouble) compare() {
	c.t.Helper()
	clustertest.Command(c.t, "cluster", "transfer", "--data", c.Nodes[c.Leader()].Dir)
	c.Leader()
	<-time.After(compareWithin)
	c.allRun()
}

func ended(b *brokertest.Broker) bool {
	select {
	case <-b.Exited():
		return true
	default:
		return false
	}
}

func (f *faulty) closeDoors() {
	for _, d := range slices.Concat(f.amqp, f.sql, f.redis, f.etcd) {
		d.Close()
	}
}

// Stop ends a round without the fault, which is then the next one.
func (f *faulty) Stop() error {
	f.once.Do(func() {
		f.drawn = slices.Insert(f.drawn, 0, f.fault)
		f.closeDoors()
		f.converge()
	})
	return nil
}

// served waits until another node serves clients, and, if the fault deposes the leader, until
// another node leads. If the fault is between two nodes, it waits for the third.
func (f *faulty) served(since time.Time) {
	f.t.Helper()
	if f.all {
		return
	}
	next, third := (f.hit+1)%3, (f.hit+2)%3
	f.Until(fmt.Sprintf("%s: node %d serves", f.name, third), func() bool {
		return f.probe(third) == nil && (!f.deposes || f.leads(next) || f.leads(third))
	})
	f.t.Logf("served after %.1f s", time.Since(since).Seconds())
}

// leads reports whether a node says that it is the leader.
func (f *faulty) leads(node int) bool {
	resp, err := http.Get("http://" + f.Nodes[node].MetricsAddr() + "/leader")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// probe publishes a message to a node and waits for the confirm.
func (f *faulty) probe(node int) error {
	conn, err := amqp.DialConfig(f.Nodes[node].URL(), amqp.Config{Dial: amqp.DefaultDial(probePatience)})
	if err != nil {
		return err
	}
	defer conn.Close()
	time.AfterFunc(probePatience, func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	if _, err := ch.QueueDeclare("probe", true, false, false, false, amqp.Table{"x-max-length": 1}); err != nil {
		return err
	}
	sent, err := ch.PublishWithDeferredConfirm("", "probe", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent})
	if err != nil {
		return err
	}
	if confirmed, err := sent.WaitContext(f.t.Context()); err != nil || !confirmed {
		return errors.New("not confirmed")
	}
	return nil
}

// probePatience is the timeout of a probe.
const probePatience = 5 * time.Second

// converge waits until no client is connected and all nodes have applied the same entries. It fails
// the test if a node found its state to differ.
func (f *faulty) converge() {
	f.t.Helper()
	var applied []uint64
	f.Until("all nodes have the same state", func() bool {
		applied = nil
		for i := range f.Nodes {
			s := f.Status(i)
			for _, m := range s.Members {
				if m.Node == s.Node && m.About != nil && s.Leader != 0 && s.Last == m.About.Applied {
					applied = append(applied, m.About.Applied)
				}
			}
		}
		return len(applied) == 3 && len(slices.Compact(applied)) == 1
	})
	f.Until("no client is connected", func() bool {
		connections, err := clustertest.Ask(f.t, "connection", "list", "-o", "json", "--data", f.Nodes[0].Dir)
		return err == nil && connections == "[]"
	})
	for _, n := range f.Nodes {
		if why, err := os.ReadFile(filepath.Join(n.Dir, "cluster", "diverged")); err == nil {
			f.t.Fatalf("the state of the node at %s was not the leader's: %s", n.Address, why)
		}
	}
}
