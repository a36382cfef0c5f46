package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestCrash kills the broker CRASH_ROUNDS times (4 when unset) at moments drawn from CRASH_SEED
// (drawn itself when unset) and then checks all that its clients saw.
func TestCrash(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for name, s := range map[string]scenario{
		"plain": plain, "delayed": delayed, "once": once, "limited": limited, "grouped": grouped,
	} {
		// One shard, as on a small machine, and several, so that transactions cross them.
		t.Run(name+" shards 1", func(t *testing.T) { s.run(t, rounds, seed, s.here, "--shards", "1") })
		t.Run(name+" shards 3", func(t *testing.T) { s.run(t, rounds, seed, s.elsewhere, "--shards", "3") })
	}
}

func (s *scenario) run(t *testing.T, rounds, seed int, promises Promises, flags ...string) {
	dir := t.TempDir()
	s.runOn(t, Plan{Rounds: rounds, Seed: seed}, promises, func(*History) broker { return start(t, dir, flags) })
}

// setting reads a number from the environment.
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

// start runs the broker on dir with further flags.
func start(t *testing.T, dir string, flags []string) *brokertest.Broker {
	t.Helper()
	b, err := brokertest.Start(t.Context(), dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

// TestCrashSQL is TestCrash with transactions of the SQL protocol, which consume from some queues
// and post to others.
func TestCrashSQL(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for _, shards := range []string{"1", "3"} {
		t.Run("shards "+shards, func(t *testing.T) {
			dir := t.TempDir()
			crashSQL(t, Plan{Rounds: rounds, Seed: seed}, func(*History) sqlBroker { return start(t, dir, []string{"--sql", "127.0.0.1:0", "--shards", shards}) })
		})
	}
}

// TestCrashJobs kills the broker while workers take jobs, extend their locks, finish, retry, fail
// and die.
func TestCrashJobs(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for _, shards := range []string{"1", "3"} {
		t.Run("shards "+shards, func(t *testing.T) {
			dir := t.TempDir()
			flags := []string{"--redis", "127.0.0.1:0", "--shards", shards}
			crashJobs(t, Plan{Rounds: rounds, Seed: seed}, func() redisBroker { return start(t, dir, flags) })
		})
	}
}

// TestCrashKeys kills the broker while clients of etcd's API change ordinary keys, and then looks
// for an order in which all of it happened.
func TestCrashKeys(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	dir := t.TempDir()
	crashKeys(t, Plan{Rounds: rounds, Seed: seed}, func() etcdBroker { return start(t, dir, []string{"--etcd", "127.0.0.1:0"}) })
}

// TestCrashKeyQueue kills the broker while messages are put, watched and deleted as keys of etcd's
// API, and consumers come and go.
func TestCrashKeyQueue(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for _, shards := range []string{"1", "3"} {
		t.Run("shards "+shards, func(t *testing.T) {
			dir := t.TempDir()
			flags := []string{"--etcd", "127.0.0.1:0", "--shards", shards}
			crashKeyQueue(t, Plan{Rounds: rounds, Seed: seed}, func() etcdBroker { return start(t, dir, flags) })
		})
	}
}

// TestCrashSemaphores kills the broker while clients enqueue and release tasks and change settings,
// and then compares the messages about all transitions with what the clients saw and with what is
// there at the end.
func TestCrashSemaphores(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	dir := t.TempDir()
	crashSemaphores(t, Plan{Rounds: rounds, Seed: seed}, func() redisBroker { return start(t, dir, []string{"--redis", "127.0.0.1:0"}) })
}
