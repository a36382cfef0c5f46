package loads

import (
	"slices"
	"testing"
)

// Load is one kind of client, with the promises that it checks.
type Load struct {
	Name string
	Rate int // in ordinary use, for Plan.Rate
	// Apart reports that the load needs its own virtual host, which URL names, because several such
	// loads use the same queue names. The others use "/".
	Apart bool
	// Run lets the clients work on the broker that up returns, and kills or stops it. Each further
	// call of up returns a broker with the data of the one before. A breach fails the test. Several
	// loads may share a broker. At first the broker must have no data of an earlier run of the
	// load.
	Run func(t *testing.T, p Plan, up func() Broker)
}

// All returns all loads.
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

// Find returns the load with this name.
func Find(t *testing.T, name string) Load {
	t.Helper()
	all := All()
	n := slices.IndexFunc(all, func(l Load) bool { return l.Name == name })
	if n < 0 {
		t.Fatalf("no load is named %q", name)
	}
	return all[n]
}
