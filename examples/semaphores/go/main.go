// Command go keeps a crowd platform full with the 1,000 most urgent of 5,000 tasks, with package
// semaphore.
//
// REDIS_URL is the address of the broker (default redis://127.0.0.1:6380).
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"fiveways.dev/fiveways/semaphore"
)

const (
	tasks  = 5000
	active = 1000
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	semaphores, err := semaphore.Dial(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6380"))
	check(err)
	defer semaphores.Close()
	crowd, err := semaphores.GetOrCreate(ctx, "examples.crowd", semaphore.Settings{Active: new(active), TryRelease: new(900)})
	check(err)
	events, err := crowd.Watch(ctx, semaphore.WatchOptions{})
	check(err)
	f := &feeder{ctx: ctx, crowd: crowd, events: events, priorities: map[string]float64{}, onPlatform: map[string]bool{}}

	f.enqueue(1, tasks, 0) // task 17 has the priority 17
	f.feedUntil(func() bool { return len(f.onPlatform) == active })
	least, most := f.span()
	fmt.Printf("%d tasks in line, %d on the platform: priorities %g to %g\n", tasks, len(f.onPlatform), least, most)

	f.finish(4101, 4500) // people finish tasks of their choice
	f.feedUntil(func() bool { return len(f.onPlatform) == active })
	least, most = f.span()
	fmt.Printf("400 done, %d on the platform: priorities %g to %g\n", len(f.onPlatform), least, most)

	f.enqueue(1, 200, 10_000)
	f.feedUntil(func() bool { return f.urgent() == 200 && len(f.onPlatform) == active })
	fmt.Printf("200 became urgent: %s\n", f.gaveWay())
	fmt.Printf("%d urgent on the platform of %d\n", f.urgent(), len(f.onPlatform))

	f.enqueue(201, 210, 10_000)
	f.enqueue(201, 210, 0) // a mistake: the tasks that were asked may keep running
	f.feedUntil(func() bool { return f.asked == 10 })
	fmt.Printf("10 became urgent for a moment: %s\n", f.gaveWay())

	for f.done < tasks {
		f.finishAny(500)
		f.feedUntil(func() bool { return len(f.onPlatform) == min(active, tasks-f.done) })
	}
	fmt.Printf("all %d done, never more than %d on the platform\n", f.done, f.most)
	_, err = semaphores.Delete(ctx, crowd.Key())
	check(err)
}

// feeder publishes the tasks that the semaphore admits to the platform, and withdraws tasks that
// must give way.
type feeder struct {
	ctx    context.Context
	crowd  *semaphore.Semaphore
	events <-chan semaphore.Event

	priorities map[string]float64
	onPlatform map[string]bool
	done, most int // finished tasks; maximum number of tasks on the platform at a time

	asked, takenBack, finishedFirst int // since the last gaveWay
}

// enqueue enqueues tasks, or changes the priorities of existing ones. A task's priority is its
// number plus more.
func (f *feeder) enqueue(from, to int, more float64) {
	var entries []semaphore.Entry
	for n := from; n <= to; n++ {
		e := semaphore.Entry{Task: strconv.Itoa(n), Priority: float64(n) + more}
		f.priorities[e.Task] = e.Priority
		entries = append(entries, e)
	}
	_, err := f.crowd.EnqueueAll(f.ctx, entries...)
	check(err)
}

// feedUntil handles events until enough returns true. Events are only hints: what counts is the
// status of the tasks that they name.
func (f *feeder) feedUntil(enough func() bool) {
	for !enough() {
		named := map[string]bool{}
		for e, more := <-f.events, true; more; {
			switch e.Kind {
			case semaphore.EventMissed: // events came faster than they were read: any running task may be new
				for t, err := range f.crowd.Tasks(f.ctx, semaphore.Acquired, semaphore.TryRelease) {
					check(err)
					named[t.Task] = true
				}
			case semaphore.EventTryRelease:
				f.asked++
				named[e.Task] = true
			case semaphore.EventAcquired:
				named[e.Task] = true
			}
			select {
			case e, more = <-f.events:
			default:
				more = false
			}
		}
		f.look(named)
	}
}

// look adds and removes tasks as their statuses require.
func (f *feeder) look(named map[string]bool) {
	var names, giveWay []string
	for name := range named {
		names = append(names, name)
	}
	found, err := f.crowd.StatusAll(f.ctx, names...)
	check(err)
	for _, t := range found {
		switch t.Status {
		case semaphore.Acquired:
			f.onPlatform[t.Task] = true
		case semaphore.TryRelease:
			giveWay = append(giveWay, t.Task)
		}
	}
	f.most = max(f.most, len(f.onPlatform))
	f.giveWay(giveWay)
}

// giveWay withdraws tasks from the platform that were asked to release. Tasks that a person has
// begun are finished first; the others are enqueued again.
func (f *feeder) giveWay(names []string) {
	var again []semaphore.Entry
	for _, name := range names {
		delete(f.onPlatform, name)
		if inHands(name) {
			f.finishedFirst++
			f.done++
			continue
		}
		f.takenBack++
		again = append(again, semaphore.Entry{Task: name, Priority: f.priorities[name]})
	}
	_, err := f.crowd.Release(f.ctx, names...)
	check(err)
	_, err = f.crowd.EnqueueAll(f.ctx, again...)
	check(err)
}

// inHands reports whether a person on the platform has begun the task: one in four.
func inHands(name string) bool {
	n, err := strconv.Atoi(name)
	check(err)
	return n%4 == 0
}

// finish finishes these tasks, as people on the platform do.
func (f *feeder) finish(from, to int) {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, strconv.Itoa(n))
	}
	f.finished(names)
}

// finishAny finishes any n tasks.
func (f *feeder) finishAny(n int) {
	var names []string
	for name := range f.onPlatform {
		if names = append(names, name); len(names) == n {
			break
		}
	}
	f.finished(names)
}

func (f *feeder) finished(names []string) {
	for _, name := range names {
		delete(f.onPlatform, name)
	}
	f.done += len(names)
	_, err := f.crowd.Release(f.ctx, names...)
	check(err)
}

// span returns the lowest and the highest priority on the platform.
func (f *feeder) span() (least, most float64) {
	for name := range f.onPlatform {
		p := f.priorities[name]
		if least == 0 || p < least {
			least = p
		}
		most = max(most, p)
	}
	return least, most
}

// urgent returns the number of urgent tasks on the platform.
func (f *feeder) urgent() (n int) {
	for name := range f.onPlatform {
		if f.priorities[name] > tasks {
			n++
		}
	}
	return n
}

// gaveWay summarizes the outcome of the requests to release.
func (f *feeder) gaveWay() string {
	s := fmt.Sprintf("%d asked to give way, %d taken back, %d finished first", f.asked, f.takenBack, f.finishedFirst)
	f.asked, f.takenBack, f.finishedFirst = 0, 0, 0
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
