package history

import (
	"fmt"
	"strings"
	"testing"
)

// semScript builds a history. Each call adds a request with its answer, or a message.
type semScript struct {
	events []SemEvent
	clock  int64
	seq    int64
}

func (s *semScript) add(e SemEvent, answered bool) {
	e.Key, e.From = "k", s.clock+1
	s.clock += 2
	if answered {
		e.To = s.clock
	}
	s.events = append(s.events, e)
}

func (s *semScript) enqueue(task string, priority float64, status string) {
	s.add(SemEvent{Kind: SemEnqueued, Task: task, Priority: priority, Status: status}, status != "?")
}

func (s *semScript) release(task string, was bool) {
	s.add(SemEvent{Kind: SemReleased, Task: task, Was: was}, true)
}

func (s *semScript) tell(event, task string) {
	s.seq++
	e := SemEvent{Kind: SemTold, Key: "k", Task: task, Event: event, Seq: s.seq, Semaphore: "1"}
	e.Content = fmt.Sprint(e.Event, e.Task)
	s.events = append(s.events, e)
}

// goodSemaphore returns a run without a breach. The semaphore has two places, one of them on
// try-release.
func goodSemaphore() (*semScript, SemEnd) {
	s := &semScript{}
	s.enqueue("a", 1, "ACQUIRED")
	s.tell("Acquired", "a")
	s.enqueue("b", 2, "ACQUIRED")
	s.tell("Acquired", "b")
	s.enqueue("c", 3, "WAIT")
	s.tell("TryRelease", "a")
	s.release("a", true)
	s.tell("Acquired", "c")
	s.enqueue("a", 9, "WAIT")
	s.tell("TryRelease", "b")
	s.enqueue("d", 5, "?")
	s.events = append(s.events, s.events[len(s.events)-2]) // the message again
	s.events[len(s.events)-1].Again = true
	return s, SemEnd{Active: 2, Try: 1, Tasks: []SemTask{{"a", 9, "WAIT"}, {"c", 3, "ACQUIRED"}, {"b", 2, "TRY_RELEASE"}}}
}

// TestCheckSemaphores checks that each breach is found, and that a correct run has none.
func TestCheckSemaphores(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		spoil      func(s *semScript, end *SemEnd)
	}{
		{"nothing", "", func(*semScript, *SemEnd) {}},
		{"the message in doubt took effect", "", func(s *semScript, end *SemEnd) {
			end.Tasks = []SemTask{{"a", 9, "WAIT"}, {"d", 5, "WAIT"}, {"c", 3, "ACQUIRED"}, {"b", 2, "TRY_RELEASE"}}
		}},
		{"a release in doubt had no effect", "", func(s *semScript, end *SemEnd) {
			s.add(SemEvent{Kind: SemReleased, Task: "b"}, false)
			s.add(SemEvent{Kind: SemSeen, Task: "b", Status: "TRY_RELEASE"}, true)
		}},
		{"a gap", "after 5 transitions", func(s *semScript, _ *SemEnd) { s.seq++; s.tell("Retained", "b") }},
		{"twice", "came twice", func(s *semScript, _ *SemEnd) { s.events[len(s.events)-1].Again = false }},
		{"two contents", "two contents", func(s *semScript, _ *SemEnd) { s.events[len(s.events)-1].Content = "other" }},
		{"out of turn", `behind "TryRelease"`, func(s *semScript, _ *SemEnd) { s.tell("TryRelease", "b") }},
		{"retained by nobody", `behind "Acquired"`, func(s *semScript, _ *SemEnd) { s.tell("Retained", "c") }},
		{"too many", "3 tasks of k ran", func(s *semScript, _ *SemEnd) { s.enqueue("c", 3, "ACQUIRED"); s.enqueue("d", 5, "ACQUIRED") }},
		{"a task is lost", "a of k is {false 0}", func(_ *semScript, end *SemEnd) { end.Tasks = end.Tasks[1:] }},
		{"a released task is there", "was=false: of", func(s *semScript, _ *SemEnd) { s.release("b", false) }},
		{"another priority", "b of k is {true 7}", func(_ *semScript, end *SemEnd) { end.Tasks[2].Priority = 7 }},
		{"a stranger", "no client enqueued", func(_ *semScript, end *SemEnd) { end.Tasks = append(end.Tasks, SemTask{"x", 0, "WAIT"}) }},
		{"other settings", "places and", func(s *semScript, _ *SemEnd) { s.add(SemEvent{Kind: SemConfigured, Active: 2, Try: 2}, true) }},
		{"a place is free", "1 of 3 run", func(_ *semScript, end *SemEnd) { end.Tasks[2].Status = "WAIT" }},
		{"nobody is asked", "b is ACQUIRED", func(_ *semScript, end *SemEnd) { end.Tasks[2].Status = "ACQUIRED" }},
		{"not told", `asked to give way and was told "Retained"`, func(s *semScript, _ *SemEnd) { s.tell("Retained", "b") }},
		{"told too often", "told 3 times", func(s *semScript, _ *SemEnd) { s.tell("Acquired", "c"); s.tell("Acquired", "c") }},
	} {
		s, end := goodSemaphore()
		tc.spoil(s, &end)
		breaches := strings.Join(CheckSemaphores(s.events, map[string]SemEnd{"k": end}), "\n")
		if tc.want == "" && breaches != "" || !strings.Contains(breaches, tc.want) {
			t.Errorf("%s: found %q, want %q", tc.name, breaches, tc.want)
		}
	}
}
