package semaphore_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// duel makes the same changes to a State, to its twin, and to a replica that is only given the
// resulting changes, as a log would.
type duel struct {
	t       testing.TB
	choose  func(n int) int // returns a number below n
	ids     int             // number of different tasks
	state   *semaphore.State
	replica *semaphore.State
	twin    twin
	events  int
}

func newDuel(t testing.TB, ids int, c semaphore.Config, choose func(int) int) *duel {
	return &duel{t: t, choose: choose, ids: ids, state: semaphore.New(c), replica: semaphore.New(c), twin: twin{Config: c, now: 1, next: 1}}
}

// id returns one of the ids of tasks: some are numbers, others only look like numbers.
func (d *duel) id() string {
	n := d.choose(d.ids)
	switch n % 5 {
	case 0:
		return "task-" + strconv.Itoa(n)
	case 1:
		return "0" + strconv.Itoa(n)
	case 2:
		return strconv.Itoa(-n)
	}
	return strconv.Itoa(n)
}

func (d *duel) priority() float64 {
	switch d.choose(12) {
	case 0:
		return math.Copysign(0, -1)
	case 1:
		return float64(d.choose(1000)) / 7
	case 2:
		return -math.MaxFloat64
	case 3:
		return math.Inf(1) // never acquired, but it has its place in the order
	}
	return float64(d.choose(9) - 4)
}

// step makes a random change. single reports that it is a change of one task.
func (d *duel) step() (single bool) {
	switch op := d.choose(100); {
	case op < 40:
		d.enqueue()
	case op < 70:
		d.release(d.id())
	case op < 74:
		for range 1 + d.choose(10) {
			d.enqueue()
		}
		return false
	case op < 78:
		for range 1 + d.choose(10) {
			d.release(d.id())
		}
		return false
	case op < 84:
		d.configure()
		return false
	case op < 90:
		d.renew(d.id())
	case op < 98:
		d.pass(int64(d.choose(40)))
		return false
	default:
		for _, id := range d.twin.owned(int64(1 + d.choose(3))) {
			d.release(id)
		}
		return false
	}
	return true
}

func (d *duel) enqueue() {
	e := semaphore.Task{ID: d.id(), Priority: d.priority()}
	if d.choose(4) == 0 {
		e.Lease = int64(d.choose(100))
	}
	if d.choose(6) == 0 {
		e.Owner = int64(d.choose(4))
	}
	d.twin.enqueue(e)
	old, there := d.state.Get(e.ID)
	e.Status, e.Until, e.Enqueued = old.Status, old.Until, d.twin.now
	if added := d.state.Put(e); added == there {
		d.t.Fatalf("put of %s: added %v, there %v", e.ID, added, there)
	}
	now, _ := d.state.Get(e.ID)
	d.replica.Put(now)
}

func (d *duel) release(id string) {
	want := d.twin.task(id)
	d.twin.release(id)
	got, ok := d.state.Remove(id)
	if ok != (want != nil) || ok && got != *want {
		d.t.Fatalf("removed %+v, %v, want %+v", got, ok, want)
	}
	d.replica.Remove(id)
}

func (d *duel) configure() {
	c := d.twin.Config
	switch d.choose(6) {
	case 0:
		c.Active = d.choose(d.ids / 2)
	case 1:
		c.Active = max(0, c.Active+d.choose(3)-1)
	case 2:
		c.TryRelease = d.choose(d.ids / 2)
	case 3:
		c.TryRelease = max(0, c.TryRelease+d.choose(3)-1)
	case 4:
		c.Lease = int64(d.choose(2) * d.choose(100))
	case 5:
		c.Ascending = !c.Ascending
	}
	err := d.state.Configure(c)
	if (err != nil) != (c.Ascending != d.twin.Ascending && len(d.twin.tasks) > 0) {
		d.t.Fatalf("configure %+v with %d tasks: %v", c, len(d.twin.tasks), err)
	}
	if err == nil {
		d.twin.Config = c
		d.replica.Configure(c)
	}
}

func (d *duel) renew(id string) {
	t := d.twin.task(id)
	if t == nil || t.Status == semaphore.Wait {
		return
	}
	t.Until = d.twin.until(t)
	d.set(id, t.Status, t.Until)
}

func (d *duel) set(id string, st semaphore.Status, until int64) {
	if !d.state.SetStatus(id, st, until) || !d.replica.SetStatus(id, st, until) {
		d.t.Fatalf("%s is not there", id)
	}
}

// pass advances the time, and removes the tasks whose lease has ended.
func (d *duel) pass(ms int64) {
	d.twin.now += ms
	want := d.twin.ended()
	first := 1 + d.choose(3)
	if got := d.state.Ended(d.twin.now, first); !slices.Equal(got, want[:min(first, len(want))]) {
		d.t.Fatalf("first %d ended at %d: %v of %v", first, d.twin.now, got, want)
	}
	if got := d.state.Ended(d.twin.now, len(want)+1); !slices.Equal(got, want) {
		d.t.Fatalf("ended at %d: %v, want %v", d.twin.now, got, want)
	}
	for _, id := range want {
		d.release(id)
	}
}

// settle makes the transitions that the rule requires. The twin must make the same ones in the same
// order.
func (d *duel) settle(single bool) {
	want := d.twin.decide()
	moved := map[string]bool{}
	for i := 0; ; i++ {
		tr, more := d.state.Next()
		if !more {
			if i != len(want) {
				d.t.Fatalf("no transition %d of %v", i, want)
			}
			break
		}
		if got := fmt.Sprint(tr.Event, " ", tr.Task); i >= len(want) || got != want[i] {
			d.t.Fatalf("transition %d is %s, want %v", i, got, want)
		}
		if moved[tr.Task] {
			d.t.Fatalf("two transitions of %s: %v", tr.Task, want)
		}
		moved[tr.Task] = true
		t := d.twin.task(tr.Task)
		d.set(tr.Task, t.Status, t.Until)
		d.events++
	}
	if single && len(want) > 2 {
		d.t.Fatalf("%v after a change of one task", want)
	}
}

// compare compares everything visible.
func (d *duel) compare() {
	w := &d.twin
	count, i := map[semaphore.Status]int{}, 0
	end := int64(math.MaxInt64)
	for got := range d.state.From(1) {
		if i >= len(w.tasks) || got != *w.tasks[i] {
			d.t.Fatalf("task %d of %d is %+v", i, len(w.tasks), got)
		}
		count[got.Status]++
		i++
		if got.Until != 0 {
			end = min(end, got.Until)
		}
	}
	for _, st := range []semaphore.Status{semaphore.Wait, semaphore.Acquired, semaphore.TryRelease} {
		if d.state.Count(st) != count[st] {
			d.t.Fatalf("%d tasks with status %d, want %d", d.state.Count(st), st, count[st])
		}
	}
	if i != len(w.tasks) || d.state.Len() != i || d.state.NextEnd() != end {
		d.t.Fatalf("%d and %d tasks, want %d; first end %d, want %d", i, d.state.Len(), len(w.tasks), d.state.NextEnd(), end)
	}
	for owner := range int64(4) {
		if got, want := d.state.Owned(owner, d.state.Len()), w.owned(owner); owner > 0 && !slices.Equal(got, want) {
			d.t.Fatalf("tasks of %d: %v, want %v", owner, got, want)
		}
	}
	if a, b := d.state.Hash(), d.replica.Hash(); a != b {
		d.t.Fatalf("a replay has hash %x, the state %x", b, a)
	}
}

// compareOne compares one task and some of those behind it.
func (d *duel) compareOne() {
	id := d.id()
	at := slices.IndexFunc(d.twin.tasks, func(t *semaphore.Task) bool { return t.ID == id })
	got, ok := d.state.Get(id)
	if d.state.Position(id) != at+1 || ok != (at >= 0) || ok && got != *d.twin.tasks[at] {
		d.t.Fatalf("%s at %d, want %d; %+v, %v", id, d.state.Position(id), at+1, got, ok)
	}
	for t := range d.state.From(at + 1) {
		if at = max(at, 0); t.ID != d.twin.tasks[at].ID {
			d.t.Fatalf("%s at %d, want %s", t.ID, at+1, d.twin.tasks[at].ID)
		}
		if at++; d.choose(3) == 0 {
			break
		}
	}
}

// restored returns a state rebuilt from what a checkpoint holds.
func (d *duel) restored() *semaphore.State {
	s := semaphore.New(d.state.Config())
	for t := range d.state.From(1) {
		s.Put(t)
	}
	s.SetNextSeq(d.state.NextSeq())
	return s
}

// number returns a setting from the environment.
func number(name string, standard int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(standard)))
	if err != nil {
		panic(err)
	}
	return n
}

// TestTwin makes 100,000 random steps for each seed. SEMAPHORE_SEED sets the first seed,
// SEMAPHORE_STEPS the number of steps.
func TestTwin(t *testing.T) {
	steps, first := number("SEMAPHORE_STEPS", 100_000), number("SEMAPHORE_SEED", 1)
	for i, c := range []struct {
		ids, steps, rarely int // everything is compared once in rarely steps
		semaphore.Config
	}{
		{12, steps, 5, semaphore.Config{Active: 3, TryRelease: 2}},
		{40, steps, 10, semaphore.Config{Active: 10, TryRelease: 4, Lease: 50}},
		{40, steps, 10, semaphore.Config{Active: 8, TryRelease: 100, Ascending: true}},
		{90, steps, 20, semaphore.Config{Active: 30, TryRelease: 27}},
		{20_000, steps / 40, 100, semaphore.Config{Active: 900, TryRelease: 200, Lease: 1000}},
	} {
		seed := uint64(first + i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			d := newDuel(t, c.ids, c.Config, r.IntN)
			if c.ids > 1000 {
				for range c.ids / 4 {
					d.enqueue()
				}
				d.settle(false)
			}
			for step := range c.steps {
				d.settle(d.step())
				if d.compareOne(); step%c.rarely == 0 {
					d.compare()
				}
				if step%1000 == 0 && d.restored().Hash() != d.state.Hash() {
					t.Fatalf("a checkpoint at step %d gives another state", step)
				}
			}
			t.Logf("%d transitions in %d steps, %d tasks at the end", d.events, c.steps, d.state.Len())
			if d.events < c.steps/100 {
				t.Errorf("only %d transitions in %d steps", d.events, c.steps)
			}
		})
	}
}

// FuzzTwin takes its steps from the input.
func FuzzTwin(f *testing.F) {
	f.Add([]byte("the first by priority"), uint8(3), uint8(2), false)
	f.Add([]byte{10, 1, 5, 9, 10, 2, 5, 9, 10, 3, 5, 3, 60, 1, 10, 4, 200, 80, 1, 2, 99}, uint8(1), uint8(1), true)
	f.Fuzz(func(t *testing.T, ops []byte, active, tryRelease uint8, ascending bool) {
		d := newDuel(t, 16, semaphore.Config{Active: int(active % 16), TryRelease: int(tryRelease % 16), Ascending: ascending}, func(n int) int {
			if len(ops) == 0 {
				return 0
			}
			b := ops[0]
			ops = ops[1:]
			return int(b) % n
		})
		for len(ops) > 0 {
			d.settle(d.step())
			d.compareOne()
			d.compare()
		}
	})
}
