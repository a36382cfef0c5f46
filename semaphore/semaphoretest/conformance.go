package semaphoretest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/semaphore"
)

// patience is the time limit of a test.
const patience = 30 * time.Second

// Suite describes the tested backend.
type Suite struct {
	// Open returns a manager for a test, which closes it. All managers must access the same
	// semaphores.
	Open func(t *testing.T) *semaphore.Manager
}

// Conformance tests that a manager with the backend behaves as package semaphore documents. The
// tests use keys of their own, so other semaphores may exist.
func Conformance(t *testing.T, s Suite) {
	for name, test := range map[string]func(*bench){
		"settings": (*bench).settings, "errors": (*bench).errors, "order": (*bench).order, "ascending": (*bench).ascending, "deletion": (*bench).deletion,
		"priorities": (*bench).priorities, "try release": (*bench).tryRelease, "list": (*bench).list, "tasks": (*bench).tasks, "names": (*bench).names,
		"acquire": (*bench).acquire, "acquire and be asked": (*bench).asked, "acquire and lose": (*bench).lost, "give up": (*bench).giveUp,
		"lease": (*bench).lease, "renewal": (*bench).renewal, "watch": (*bench).watch, "watch a task": (*bench).watchTask, "many": (*bench).many,
		"close": (*bench).close,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			m := s.Open(t)
			defer m.Close()
			test(&bench{T: t, s: s, m: m, ctx: ctx, prefix: fmt.Sprintf("conformance:%s:%d", name, time.Now().UnixNano())})
		})
	}
}

// bench is one test.
type bench struct {
	*testing.T
	s      Suite
	m      *semaphore.Manager
	ctx    context.Context
	prefix string
}

// new creates a semaphore of the test.
func (b *bench) new(name string, s semaphore.Settings) *semaphore.Semaphore {
	b.Helper()
	got, err := b.m.GetOrCreate(b.ctx, b.prefix+name, s)
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// enqueue enqueues tasks whose names are their priorities.
func (b *bench) enqueue(s *semaphore.Semaphore, priorities ...float64) {
	b.Helper()
	entries := make([]semaphore.Entry, len(priorities))
	for i, p := range priorities {
		entries[i] = semaphore.Entry{Task: fmt.Sprint(p), Priority: p}
	}
	if _, err := s.EnqueueAll(b.ctx, entries...); err != nil {
		b.Fatal(err)
	}
}

// stands checks all tasks in order, each as "name STATUS".
func (b *bench) stands(s *semaphore.Semaphore, want ...string) {
	b.Helper()
	var got []string
	for t, err := range s.Tasks(b.ctx) {
		if err != nil {
			b.Fatal(err)
		}
		got = append(got, t.Task+" "+string(t.Status))
		if t.Position != len(got) {
			b.Errorf("task %s is at %d, not at %d", t.Task, t.Position, len(got))
		}
	}
	if !slices.Equal(got, want) {
		b.Errorf("there stand %q, want %q", got, want)
	}
}

func (b *bench) release(s *semaphore.Semaphore, tasks ...string) {
	b.Helper()
	if n, err := s.Release(b.ctx, tasks...); err != nil || n != len(tasks) {
		b.Fatalf("released %d of %q: %v", n, tasks, err)
	}
}

func (b *bench) is(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Errorf("%v, want %v", got, want)
	}
}

func (b *bench) settings() {
	s := b.new("", semaphore.Settings{})
	want := semaphore.Info{Key: s.Key(), Active: 1000, TryRelease: 900}
	if got, err := s.Info(b.ctx); err != nil || got != want {
		b.Errorf("%+v, %v; want %+v", got, err, want)
	}
	b.new("", semaphore.Settings{Active: new(5), Lease: new(time.Second)}) // it already exists
	if got, err := s.Info(b.ctx); err != nil || got != want {
		b.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := s.Update(b.ctx, semaphore.Settings{TryRelease: new(0), Ascending: new(true), Lease: new(1500 * time.Millisecond)}); err != nil {
		b.Fatal(err)
	}
	want.TryRelease, want.Ascending, want.Lease = 0, true, 1500*time.Millisecond
	if got, err := s.Info(b.ctx); err != nil || got != want {
		b.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := s.Update(b.ctx, semaphore.Settings{Active: new(1), TryRelease: new(1)}); err != nil {
		b.Fatal(err)
	}
	b.enqueue(s, 1, 2, 3)
	b.enqueue(s, 0)
	want.Active, want.TryRelease, want.Waiting, want.Asked = 1, 1, 3, 1
	if got, err := s.Info(b.ctx); err != nil || got != want {
		b.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func (b *bench) errors() {
	missing := b.m.Semaphore(b.prefix + "missing")
	for name, call := range map[string]func() error{
		"update":  func() error { return missing.Update(b.ctx, semaphore.Settings{Active: new(1)}) },
		"enqueue": func() error { _, err := missing.Enqueue(b.ctx, "t", 1); return err },
		"release": func() error { _, err := missing.Release(b.ctx, "t"); return err },
		"renew":   func() error { _, err := missing.Renew(b.ctx, "t"); return err },
		"status":  func() error { _, err := missing.Status(b.ctx, "t"); return err },
		"info":    func() error { _, err := missing.Info(b.ctx); return err },
		"acquire": func() error { _, err := missing.Acquire(b.ctx, "t", 1); return err },
		"tasks": func() (last error) {
			for _, err := range missing.Tasks(b.ctx) {
				last = err
			}
			return last
		},
	} {
		if err := call(); !errors.Is(err, semaphore.ErrNotFound) {
			b.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	s := b.new("", semaphore.Settings{})
	for name, call := range map[string]func() error{
		"no number":         func() error { _, err := s.Enqueue(b.ctx, "t", math.NaN()); return err },
		"no finite one":     func() error { _, err := s.Acquire(b.ctx, "t", math.Inf(1)); return err },
		"no name":           func() error { _, err := s.Enqueue(b.ctx, "", 1); return err },
		"a negative lease":  func() error { _, err := s.EnqueueAll(b.ctx, semaphore.Entry{Task: "t", Lease: -1}); return err },
		"a negative active": func() error { return s.Update(b.ctx, semaphore.Settings{Active: new(-1)}) },
		"no key":            func() error { _, err := b.m.GetOrCreate(b.ctx, "", semaphore.Settings{}); return err },
	} {
		if err := call(); !errors.Is(err, semaphore.ErrInvalid) {
			b.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	b.enqueue(s, 1)
	b.is(s.Update(b.ctx, semaphore.Settings{Ascending: new(true)}), semaphore.ErrOrder)
	_, err := b.m.DeleteIfEmpty(b.ctx, s.Key())
	b.is(err, semaphore.ErrNotEmpty)
	if got, err := s.StatusAll(b.ctx, "1", "nobody"); err != nil || len(got) != 2 || got[0].Status != semaphore.Acquired || got[1] != (semaphore.Task{Task: "nobody"}) {
		b.Errorf("%+v, %v", got, err)
	}
	if renewed, err := s.Renew(b.ctx, "1", "nobody"); err != nil || !slices.Equal(renewed, []bool{true, false}) {
		b.Errorf("%v, %v", renewed, err)
	}
	if n, err := s.Release(b.ctx, "nobody", "1", "1"); err != nil || n != 1 {
		b.Errorf("released %d, %v", n, err)
	}
}

func (b *bench) order() {
	s := b.new("", semaphore.Settings{Active: new(2), TryRelease: new(0)})
	b.enqueue(s, 1, 5, 3, 4)
	b.stands(s, "5 ACQUIRED", "4 ACQUIRED", "3 WAIT", "1 WAIT")
	b.enqueue(s, 9) // no task is asked to give way
	b.stands(s, "9 WAIT", "5 ACQUIRED", "4 ACQUIRED", "3 WAIT", "1 WAIT")
	b.release(s, "4")
	b.stands(s, "9 ACQUIRED", "5 ACQUIRED", "3 WAIT", "1 WAIT")
	for _, task := range []string{"a", "b"} { // at equal priority the earlier one comes first
		if status, err := s.Enqueue(b.ctx, task, 3); err != nil || status != semaphore.Wait {
			b.Errorf("%s: %s, %v", task, status, err)
		}
	}
	b.stands(s, "9 ACQUIRED", "5 ACQUIRED", "3 WAIT", "a WAIT", "b WAIT", "1 WAIT")
	if _, err := s.Enqueue(b.ctx, "3", 3); err != nil { // it keeps its position
		b.Fatal(err)
	}
	b.release(s, "9", "5", "1")
	b.stands(s, "3 ACQUIRED", "a ACQUIRED", "b WAIT")
}

func (b *bench) ascending() {
	s := b.new("", semaphore.Settings{Active: new(1), Ascending: new(true)})
	b.enqueue(s, 3, -1, 2)
	b.stands(s, "-1 ACQUIRED", "2 WAIT", "3 WAIT")
}

func (b *bench) priorities() {
	s := b.new("", semaphore.Settings{Active: new(1), TryRelease: new(0)})
	b.enqueue(s, 3, 2, 1)
	if status, err := s.Enqueue(b.ctx, "1", 1e300); err != nil || status != semaphore.Wait {
		b.Errorf("%s, %v", status, err)
	}
	b.stands(s, "1 WAIT", "3 ACQUIRED", "2 WAIT")
	got, err := s.Status(b.ctx, "1")
	if err != nil || got.Priority != 1e300 || got.Position != 1 || time.Since(got.Enqueued).Abs() > time.Hour || got.Lease != 0 || got.Left != 0 {
		b.Errorf("%+v, %v", got, err)
	}
	b.release(s, "3")
	b.stands(s, "1 ACQUIRED", "2 WAIT")
}

func (b *bench) tryRelease() {
	s := b.new("", semaphore.Settings{Active: new(3), TryRelease: new(1)})
	b.enqueue(s, 3, 2, 1)
	b.enqueue(s, 5, 4)
	b.stands(s, "5 WAIT", "4 WAIT", "3 ACQUIRED", "2 ACQUIRED", "1 TRY_RELEASE")
	if err := s.Update(b.ctx, semaphore.Settings{TryRelease: new(3)}); err != nil {
		b.Fatal(err)
	}
	b.stands(s, "5 WAIT", "4 WAIT", "3 ACQUIRED", "2 TRY_RELEASE", "1 TRY_RELEASE")
	b.release(s, "5")
	b.stands(s, "4 WAIT", "3 ACQUIRED", "2 ACQUIRED", "1 TRY_RELEASE")
	b.release(s, "1")
	b.stands(s, "4 ACQUIRED", "3 ACQUIRED", "2 ACQUIRED")
	if err := s.Update(b.ctx, semaphore.Settings{Active: new(1)}); err != nil {
		b.Fatal(err)
	}
	b.stands(s, "4 ACQUIRED", "3 TRY_RELEASE", "2 TRY_RELEASE")
	if err := s.Update(b.ctx, semaphore.Settings{Active: new(2)}); err != nil {
		b.Fatal(err)
	}
	b.stands(s, "4 ACQUIRED", "3 ACQUIRED", "2 TRY_RELEASE")
}

func (b *bench) deletion() {
	s := b.new("", semaphore.Settings{Active: new(1)})
	b.enqueue(s, 1)
	ends := b.inLine(s, "waits", 0)
	for _, want := range []bool{true, false} {
		if deleted, err := b.m.Delete(b.ctx, s.Key()); err != nil || deleted != want {
			b.Errorf("deleted: %v, %v", deleted, err)
		}
	}
	b.is((<-ends).err, semaphore.ErrDeleted)
	s = b.new("", semaphore.Settings{})
	b.stands(s)
	if deleted, err := b.m.DeleteIfEmpty(b.ctx, s.Key()); err != nil || !deleted {
		b.Errorf("deleted: %v, %v", deleted, err)
	}
}

func (b *bench) list() {
	var want []string
	for i := range 25 {
		want = append(want, b.new(fmt.Sprintf(":%02d*[x]", i), semaphore.Settings{Active: new(i)}).Key())
	}
	var got []string
	for i, err := range b.m.List(b.ctx, b.prefix+":*") {
		if err != nil {
			b.Fatal(err)
		}
		if i.Active != len(got) {
			b.Errorf("%+v, want %d active", i, len(got))
		}
		got = append(got, i.Key)
	}
	if !slices.Equal(got, want) {
		b.Errorf("listed %q, want %q", got, want)
	}
	n := 0
	for _, err := range b.m.List(b.ctx, "") {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n < 25 {
		b.Errorf("listed %d of at least 25", n)
	}
	for i, err := range b.m.List(b.ctx, b.prefix+`:13\*\[x]`) {
		if err != nil || i.Key != want[13] {
			b.Errorf("%+v, %v", i, err)
		}
	}
}

func (b *bench) tasks() {
	const n = 2345
	s := b.new("", semaphore.Settings{Active: new(10)})
	entries := make([]semaphore.Entry, n)
	for i := range entries {
		entries[i] = semaphore.Entry{Task: fmt.Sprint(i), Priority: float64(-i)}
	}
	statuses, err := s.EnqueueAll(b.ctx, entries...)
	if err != nil || len(statuses) != n || statuses[9] != semaphore.Acquired || statuses[10] != semaphore.Wait {
		b.Fatalf("%d statuses, %v", len(statuses), err)
	}
	i := 0
	for t, err := range s.Tasks(b.ctx) {
		if err != nil || t.Task != fmt.Sprint(i) || t.Position != i+1 {
			b.Fatalf("%+v, %v; want task %d", t, err, i)
		}
		i++
	}
	if i != n {
		b.Errorf("listed %d of %d", i, n)
	}
	for status, want := range map[semaphore.Status]int{semaphore.Acquired: 10, semaphore.TryRelease: 0, semaphore.Wait: n - 10} {
		i = 0
		for t, err := range s.Tasks(b.ctx, status) {
			if err != nil || t.Status != status {
				b.Fatalf("%+v, %v; want %s", t, err, status)
			}
			i++
		}
		if i != want {
			b.Errorf("%d are %s, not %d", i, status, want)
		}
	}
}

// names checks names of tasks that have a meaning in a protocol.
func (b *bench) names() {
	s := b.new(" key [with] *", semaphore.Settings{})
	for _, task := range []string{"LEASE", "DETAIL", "lease", "задача", "*", "a b", "1", "01", "-0", "9223372036854775808"} {
		if status, err := s.Enqueue(b.ctx, task, 1); err != nil || status != semaphore.Acquired {
			b.Errorf("%q: %s, %v", task, status, err)
		}
		if got, err := s.Status(b.ctx, task); err != nil || got.Task != task || got.Status != semaphore.Acquired {
			b.Errorf("%q: %+v, %v", task, got, err)
		}
		held, err := s.Acquire(b.ctx, task, 2)
		if err != nil || held.Err() != nil {
			b.Errorf("%q: %v", task, err)
		}
		b.release(s, task)
	}
}

// many checks that of a thousand concurrent acquires never more run than allowed.
func (b *bench) many() {
	const n, active = 1000, 20
	s := b.new("", semaphore.Settings{Active: new(active), TryRelease: new(0)})
	var mu sync.Mutex
	running, most := 0, 0
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			task := fmt.Sprint(i)
			held, err := s.Acquire(b.ctx, task, float64(i%7))
			if err != nil || held.Err() != nil {
				b.Error(err)
				return
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			running--
			mu.Unlock()
			if _, err := s.Release(b.ctx, task); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	if most > active {
		b.Errorf("%d ran at once", most)
	}
	b.stands(s)
}

func (b *bench) close() {
	s := b.new("", semaphore.Settings{Active: new(1)})
	held, err := s.Acquire(b.ctx, "holds", 2)
	if err != nil {
		b.Fatal(err)
	}
	ends := b.inLine(s, "waits", 1)
	events, err := s.Watch(b.ctx, semaphore.WatchOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if err := b.m.Close(); err != nil {
		b.Error(err)
	}
	b.is((<-ends).err, semaphore.ErrClosed)
	<-held.Done()
	b.is(context.Cause(held), semaphore.ErrClosed)
	for range events { // until it is closed
	}
	_, err = s.Enqueue(b.ctx, "late", 1)
	b.is(err, semaphore.ErrClosed)
	_, err = s.Acquire(b.ctx, "late", 1)
	b.is(err, semaphore.ErrClosed)
	_, err = s.Watch(b.ctx, semaphore.WatchOptions{})
	b.is(err, semaphore.ErrClosed)
	if err := b.m.Close(); err != nil {
		b.Error(err)
	}
	b.m = b.s.Open(b.T)
	defer b.m.Close()
	b.stands(b.m.Semaphore(s.Key()), "holds ACQUIRED", "waits WAIT") // the tasks are still there
}
