package loads

import (
	"slices"
	"testing"
)

// Load is one kind of clients, and the promises that these check.
type Load struct {
	Name string
	Rate int // of an ordinary day, for Plan
	// Apart says that it needs a virtual host of its own, to which URL connects: the queues of such
	// loads have the same names. The others use "/".
	Apart bool
	// Run has the clients work on what up returns, which they kill or stop, and which has what
	// there was before when up is called again. A breach fails the test. Loads can share a broker.
	// Nothing of an earlier run of the load may be there at first.
	Run func(t *testing.T, p Plan, up func() Broker)
}

// All returns all kinds of clients.
func All() []Load {
	return []Load{
		{"plain", 100, true, plain.run},
		{"mixed", 60, true, mixed.run},
		{"delayed", 40, true, delayed.run},
		{"once", 40, true, once.run},
		{"limited", 20, true, limited.run},
		{"grouped", 40, true, grouped.run},
		{"sql", 30, false, crashSQL},
		{"jobs", 40, false, crashJobs},
		{"keys", 40, false, crashKeys},
		{"keyqueue", 40, false, crashKeyQueue},
		{"semaphores", 40, false, crashSemaphores},
	}
}

// Find returns the kind of clients with this name.
func Find(t *testing.T, name string) Load {
	t.Helper()
	all := All()
	n := slices.IndexFunc(all, func(l Load) bool { return l.Name == name })
	if n < 0 {
		t.Fatalf("no load is named %q", name)
	}
	return all[n]
}
