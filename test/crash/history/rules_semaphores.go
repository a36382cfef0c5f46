package history

import (
	"cmp"
	"maps"
	"slices"
)

// numbers checks that the transitions of a semaphore come in order and without gaps, and that a
// repeated message has the same content and is marked as repeated.
func (r *semRun) numbers() {
	seen := map[string][]SemEvent{}
	for _, e := range r.events {
		if e.Kind != SemTold {
			continue
		}
		all := seen[e.Semaphore]
		switch n := int64(len(all)); {
		case e.Seq == n+1:
			seen[e.Semaphore] = append(all, e)
		case e.Seq < 1 || e.Seq > n+1:
			r.breach("%s: after %d transitions", e, n)
		case all[e.Seq-1].Content != e.Content:
			r.breach("%s has two contents: %s and %s", e, all[e.Seq-1].Content, e.Content)
		case !e.Again:
			r.breach("%s came twice", e)
		}
	}
}

// follows lists the transitions of a task that may precede each transition; "" means none. A
// release has no message: after it a task starts again.
var follows = map[string][]string{
	"Acquired":   {"", "Acquired", "TryRelease", "Retained", "Expired"},
	"TryRelease": {"Acquired", "Retained"},
	"Retained":   {"TryRelease"},
	"Expired":    {"Acquired", "TryRelease", "Retained"},
	"Deleted":    {"", "Acquired", "TryRelease", "Retained", "Expired"},
}

// course checks that the transitions of each task follow one another as follows permits.
func (r *semRun) course() {
	for _, all := range r.told() {
		last := map[string]string{}
		for _, e := range all {
			if !slices.Contains(follows[e.Event], last[e.Task]) {
				r.breach("%s: behind %q", e, last[e.Task])
			}
			last[e.Task] = e.Event
		}
	}
}

// places checks that at no moment more tasks run than there are places. A task runs at least from
// the answer that says so until its release is requested.
func (r *semRun) places() {
	type moment struct {
		at    int64
		enter int
	}
	held, most := map[string][]moment{}, map[string]int{}
	for key, end := range r.end {
		most[key] = end.Active
	}
	for _, e := range r.events {
		if e.Kind == SemConfigured {
			most[e.Key] = max(most[e.Key], e.Active)
		}
	}
	for task, all := range r.of(SemEnqueued, SemReleased, SemSeen) {
		runs := false
		for _, e := range all {
			switch {
			case e.Kind == SemReleased && runs:
				runs = false
				held[task.key] = append(held[task.key], moment{e.From, -1})
			case e.Kind != SemReleased && !runs && e.runs():
				runs = true
				held[task.key] = append(held[task.key], moment{e.To, 1})
			}
		}
	}
	for key, end := range r.end {
		if end.Leased {
			continue // a client does not know when the lease of its task expires
		}
		moments, n := held[key], 0
		slices.SortFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
		for _, m := range moments {
			if n += m.enter; n > most[key] {
				r.breach("%d tasks of %s ran at %d, where at most %d may", n, key, m.at, most[key])
				break
			}
		}
	}
}

// fate is a possible state of a task: it exists with a priority, or it does not exist.
type fate struct {
	there    bool
	priority float64
}

// fates returns the possible states of a task after all of its requests. An answer leaves one
// state.
func (r *semRun) fates(all []SemEvent, leased bool) map[fate]bool {
	may := map[fate]bool{{}: true}
	for _, e := range all {
		after := fate{e.Kind == SemEnqueued, e.Priority}
		if e.Kind == SemReleased && e.Answered() && !leased {
			be := slices.ContainsFunc(slices.Collect(maps.Keys(may)), func(f fate) bool { return f.there == e.Was })
			if !be {
				r.breach("%s: of %v", e, may)
			}
		}
		if e.Answered() {
			may = map[fate]bool{after: true}
		} else {
			may[after] = true
		}
	}
	return may
}

// tasks checks that the effects of answered requests are there at the end, and nothing else.
func (r *semRun) tasks() {
	by := r.of(SemEnqueued, SemReleased)
	for key, end := range r.end {
		there := map[string]fate{}
		for _, t := range end.Tasks {
			there[t.Task] = fate{true, t.Priority}
			if by[semTask{key, t.Task}] == nil {
				r.breach("%s of %s is there, and no client enqueued it", t.Task, key)
			}
		}
		for task, all := range by {
			if task.key != key {
				continue
			}
			may := r.fates(all, end.Leased)
			if end.Leased {
				may[fate{}] = true
			}
			if !may[there[task.task]] {
				r.breach("%s of %s is %v at the end, may be %v; last %s", task.task, key, there[task.task], may, all[len(all)-1])
			}
		}
	}
}

// settings checks that answered settings hold at the end.
func (r *semRun) settings() {
	type setting struct{ active, try int }
	may := map[string]map[setting]bool{}
	for _, e := range r.events {
		if e.Kind != SemConfigured {
			continue
		}
		if e.Answered() || may[e.Key] == nil {
			may[e.Key] = map[setting]bool{}
		}
		may[e.Key][setting{e.Active, e.Try}] = true
	}
	for key, end := range r.end {
		if may[key] != nil && !may[key][setting{end.Active, end.Try}] {
			r.breach("%s has %d places and %d at disposal, may have %v", key, end.Active, end.Try, may[key])
		}
	}
}

// rule checks that at the end no task can be admitted or has to be released.
func (r *semRun) rule() {
	for key, end := range r.end {
		var running []SemTask
		outranked := 0
		for i, t := range end.Tasks {
			if t.Status == "WAIT" {
				continue
			}
			running = append(running, t)
			if i >= end.Active {
				outranked++
			}
		}
		if len(running) < min(end.Active, len(end.Tasks)) {
			r.breach("%s: %d of %d run, where %d may", key, len(running), len(end.Tasks), end.Active)
		}
		asked := min(outranked, end.Try)
		for i, t := range running {
			if want := i >= len(running)-asked; want != (t.Status == "TRY_RELEASE") {
				r.breach("%s: %s is %s, %d of %d are to be asked", key, t.Task, t.Status, asked, len(running))
			}
		}
	}
}

// last checks that the last message about a running task agrees with its final state.
func (r *semRun) last() {
	last := map[semTask]string{}
	for _, all := range r.told() {
		for _, e := range all {
			last[semTask{e.Key, e.Task}] = e.Event
		}
	}
	for key, end := range r.end {
		for _, t := range end.Tasks {
			was := last[semTask{key, t.Task}]
			switch t.Status {
			case "ACQUIRED":
				if was != "Acquired" && was != "Retained" {
					r.breach("%s of %s runs and was told %q", t.Task, key, was)
				}
			case "TRY_RELEASE":
				if was != "TryRelease" {
					r.breach("%s of %s is asked to give way and was told %q", t.Task, key, was)
				}
			}
		}
	}
}

// turns checks that a task has as many messages that it runs as it was seen to start, and not more
// than it can have started.
func (r *semRun) turns() {
	told := map[semTask]int{}
	for _, all := range r.told() {
		for _, e := range all {
			if e.Event == "Acquired" {
				told[semTask{e.Key, e.Task}]++
			}
		}
	}
	for task, all := range r.of(SemEnqueued, SemReleased, SemSeen) {
		end, ok := r.end[task.key]
		if !ok || end.Leased {
			continue
		}
		seen, may, runs := 0, 1, false
		for _, e := range all {
			if e.Kind == SemReleased {
				runs = runs && !e.Answered() // it may continue to run
				may++
			} else if !runs && e.runs() {
				runs = true
				seen++
			}
		}
		if n := told[task]; n < seen || n > may {
			r.breach("%s of %s was told %d times that it runs; it was seen to %d times, and released %d times", task.task, task.key, n, seen, may-1)
		}
	}
}
