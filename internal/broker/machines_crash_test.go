package broker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/statemachine"
)

// machineRun is a workload for a state machine: what was answered, and what was attempted.
type machineRun struct {
	mu        sync.Mutex
	attempted []string
	answered  []string
}

func (r *machineRun) attempt(entry string) []byte {
	r.attempted = append(r.attempted, entry)
	return []byte(entry)
}

func (r *machineRun) answer(entry string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, entry)
}

// live records entries until one fails: that is the crash.
func (r *machineRun) live(b *Broker) {
	for i := range 30 {
		entry := fmt.Sprint("one/", i, strings.Repeat("x", 40))
		if _, err := b.StateMachine(statemachine.Keys).Record(r.attempt(entry)); err != nil {
			return
		}
		r.answer(entry)
		if i%3 == 2 && !r.several(b, i) {
			return
		}
		if i%7 == 6 {
			b.checkpointDue(false)
		}
	}
}

// several records a few entries at once.
func (r *machineRun) several(b *Broker, i int) bool {
	var wait sync.WaitGroup
	failed := false
	for k := range 4 {
		entry := fmt.Sprint("some/", i, "-", k)
		wait.Add(1)
		b.StateMachine(statemachine.Keys).RecordAll([][]byte{r.attempt(entry)}, false, func(_ int, _ uint64, err error) {
			if err == nil {
				r.answer(entry)
			}
			failed = failed || err != nil
			wait.Done()
		})
	}
	wait.Wait()
	return !failed
}

// check compares the entries after the crash with those answered: all of those exist, in order of
// the attempts, none twice, none after a gap.
func (r *machineRun) check(t *testing.T, there []string) {
	t.Helper()
	if len(there) < len(r.answered) || len(there) > len(r.attempted) {
		t.Errorf("%d entries are there, of %d answered and %d attempted", len(there), len(r.answered), len(r.attempted))
		return
	}
	if !slices.Equal(there, r.attempted[:len(there)]) {
		t.Errorf("there is %q, attempted was %q", there, r.attempted)
	}
	for i, entry := range r.answered {
		if there[i] != entry {
			t.Errorf("answer %d was to %s, there is %s", i, entry, there[i])
		}
	}
}

// TestMachineCrashAtEveryOperation crashes at each disk operation in turn, and opens what a power
// failure may leave.
func TestMachineCrashAtEveryOperation(t *testing.T) {
	crashEverywhere(t, 2, func() life {
		r := &machineRun{}
		var a *tally
		return life{
			options: func(o *Options) {
				a = newTally() // each start has a new one
				withMachine(a, smallLog)(o)
			},
			live: r.live,
			check: func(b *Broker) {
				r.check(t, a.entries())
				recordEntry(t, b, "after")
			},
		}
	})
}
