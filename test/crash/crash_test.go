package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// messageLoads are the loads that send messages over AMQP. Each uses another kind of queue.
var messageLoads = []string{"plain", "delayed", "once", "limited", "grouped"}

// TestCrash kills the broker CRASH_ROUNDS times (default 4) at random moments, with the seed
// CRASH_SEED (default random). It then checks everything that the clients saw.
func TestCrash(t *testing.T) {
	plan := drawPlan(t)
	for _, name := range messageLoads {
		crashSharded(t, plan, name, name+" shards ")
	}
}

// drawPlan returns the plan that CRASH_ROUNDS and CRASH_SEED define.
func drawPlan(t *testing.T) loads.Plan {
	t.Helper()
	p := loads.Plan{Rounds: setting(t, "CRASH_ROUNDS", 4), Seed: setting(t, "CRASH_SEED", rand.IntN(1_000_000))}
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", p.Rounds, p.Seed)
	return p
}

// crashSharded runs a load against brokers with one shard, as on a small machine, and with three,
// so that transactions span shards. The names of the subtests are prefix and the number of shards.
func crashSharded(t *testing.T, p loads.Plan, load, prefix string, flags ...string) {
	for _, shards := range []string{"1", "3"} {
		t.Run(prefix+shards, func(t *testing.T) {
			p.OneShard = shards == "1"
			crash(t, p, load, append(flags, "--shards", shards)...)
		})
	}
}

// crash runs a load that kills a broker with these flags.
func crash(t *testing.T, p loads.Plan, load string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	loads.Find(t, load).Run(t, p, func() loads.Broker {
		b, err := brokertest.Start(t.Context(), dir, flags...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Kill)
		return b
	})
}

// setting returns an integer from the environment, or unset if the variable is not set.
func setting(t *testing.T, name string, unset int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number above 0", name, text)
	}
	return n
}

// free is an address whose port the system chooses.
const free = "127.0.0.1:0"

// TestCrashSQL is TestCrash with transactions of the SQL protocol that consume from some queues and
// post to others.
func TestCrashSQL(t *testing.T) { crashSharded(t, drawPlan(t), "sql", "shards ", "--sql", free) }

// TestCrashJobs kills the broker while workers take jobs, extend their locks, finish, retry, fail
// and die.
func TestCrashJobs(t *testing.T) { crashSharded(t, drawPlan(t), "jobs", "shards ", "--redis", free) }

// TestCrashKeys kills the broker while clients of the etcd API change ordinary keys, and then
// checks that the history is linearizable.
func TestCrashKeys(t *testing.T) { crash(t, drawPlan(t), "keys", "--etcd", free) }

// TestCrashKeyQueue kills the broker while messages are put, watched and deleted as keys of the
// etcd API, and consumers come and go.
func TestCrashKeyQueue(t *testing.T) {
	crashSharded(t, drawPlan(t), "keyqueue", "shards ", "--etcd", free)
}

// TestCrashSemaphores kills the broker while clients enqueue and release tasks and change settings.
// It then compares the event messages of all transitions with what the clients saw and with the
// final state.
func TestCrashSemaphores(t *testing.T) { crash(t, drawPlan(t), "semaphores", "--redis", free) }
