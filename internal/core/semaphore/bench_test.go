package semaphore_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// idKinds are typical kinds of ids.
var idKinds = map[string]func(n int) string{
	"numbers": func(n int) string { return fmt.Sprint(100_000_000 + n) },
	"uuids":   func(n int) string { return fmt.Sprintf("%08x-1234-4321-8888-%012x", n*2654435761&0xffffffff, n) },
}

// fill returns a state with this many tasks, the first active of which run.
func fill(active, tasks int, id func(int) string) *semaphore.State {
	s := semaphore.New(semaphore.Config{Active: active, TryRelease: active * 9 / 10})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range tasks {
		s.Put(semaphore.Task{ID: id(i), Priority: float64(r.IntN(1_000_000)), Enqueued: int64(i)})
	}
	for follow(s) {
	}
	return s
}

// follow makes the next transition.
func follow(s *semaphore.State) bool {
	tr, more := s.Next()
	if !more {
		return false
	}
	st := semaphore.Acquired
	if tr.Event == semaphore.EventTryRelease {
		st = semaphore.TryRelease
	}
	return s.SetStatus(tr.Task, st, 0)
}

// BenchmarkChange measures one change of the largest semaphore (5,000,000 waiting and 100,000
// running tasks), with the transitions that follow.
func BenchmarkChange(b *testing.B) {
	for kind, id := range idKinds {
		b.Run("ids="+kind, func(b *testing.B) {
			const active, tasks = 100_000, 5_100_000
			s := fill(active, tasks, id)
			r := rand.New(rand.NewPCG(3, 4))
			next := tasks
			for op, change := range map[string]func(){
				"enqueue": func() {
					s.Put(semaphore.Task{ID: id(next), Priority: float64(r.IntN(1_000_000))})
					next++
				},
				"reprioritise": func() {
					t, _ := s.Get(id(r.IntN(tasks)))
					t.Priority = float64(r.IntN(1_000_000))
					s.Put(t)
				},
				"release of one that runs, and an enqueue": func() {
					for t := range s.From(1 + r.IntN(active)) {
						s.Remove(t.ID)
						break
					}
					s.Put(semaphore.Task{ID: id(next), Priority: float64(r.IntN(1_000_000))})
					next++
				},
			} {
				b.Run(op, func(b *testing.B) {
					for b.Loop() {
						change()
						for follow(s) {
						}
					}
				})
			}
		})
	}
}

// BenchmarkFill reports the memory per task, in the largest semaphore and in 100,000 small ones.
func BenchmarkFill(b *testing.B) {
	for kind, id := range idKinds {
		for _, c := range []struct{ semaphores, active, tasks int }{{1, 100_000, 5_100_000}, {100_000, 3, 10}} {
			b.Run(fmt.Sprintf("ids=%s/semaphores=%d/tasks=%d", kind, c.semaphores, c.tasks), func(b *testing.B) {
				for b.Loop() {
					before := heap()
					all := make([]*semaphore.State, c.semaphores)
					for i := range all {
						all[i] = fill(c.active, c.tasks, id)
					}
					n := float64(c.semaphores * c.tasks)
					b.ReportMetric(float64(heap()-before)/n, "B/task")
					b.ReportMetric(float64(all[0].Bytes())/float64(c.tasks), "B/task-told")
					runtime.KeepAlive(all)
				}
			})
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
