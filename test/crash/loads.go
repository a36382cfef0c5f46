package crash

import "testing"

// Broker is what a Load works on.
type Broker interface {
	broker
	SQLAddr() string
	RedisAddr() string
	EtcdAddr() string
}

// Load is one kind of clients, and the promises that these check.
type Load struct {
	Name string
	Rate int // of an ordinary day, for Plan
	// Apart says that it needs a virtual host of its own, to which URL connects: the queues of such
	// loads have the same names. The others use "/".
	Apart bool
	run   func(*testing.T, Plan, func() Broker)
}

// Run has the clients work on what up returns, which they kill or stop, and which has what there
// was before when up is called again. A breach fails the test. Loads can share a broker. Nothing of
// an earlier run of the load may be there at first.
func (l *Load) Run(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	l.run(t, p, up)
}

// Loads returns all kinds of clients.
func Loads() []Load {
	return []Load{
		{"plain", 100, true, plain.load},
		{"mixed", 60, true, mixed.load},
		{"delayed", 40, true, delayed.load},
		{"once", 40, true, once.load},
		{"limited", 20, true, limited.load},
		{"grouped", 40, true, grouped.load},
		{"sql", 30, false, func(t *testing.T, p Plan, up func() Broker) {
			crashSQL(t, p, func(*History) sqlBroker { return up() })
		}},
		{"jobs", 40, false, func(t *testing.T, p Plan, up func() Broker) { crashJobs(t, p, func() redisBroker { return up() }) }},
		{"keys", 40, false, func(t *testing.T, p Plan, up func() Broker) { crashKeys(t, p, func() etcdBroker { return up() }) }},
		{"keyqueue", 40, false, func(t *testing.T, p Plan, up func() Broker) { crashKeyQueue(t, p, func() etcdBroker { return up() }) }},
		{"semaphores", 40, false, func(t *testing.T, p Plan, up func() Broker) {
			crashSemaphores(t, p, func() redisBroker { return up() })
		}},
	}
}

// load is the run of a Load, with what holds for several shards.
func (s *scenario) load(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	s.runOn(t, p, s.elsewhere, func(*History) broker { return up() })
}
