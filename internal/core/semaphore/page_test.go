package semaphore

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage executes the table of steps in docs/features/semaphores.md.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/features/semaphores.md")
	if err != nil {
		t.Fatal(err)
	}
	s, steps := New(Config{Active: 3, TryRelease: 2}), 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		steps++
		step := strings.Trim(cells[0], " `")
		play(t, s, step)
		happened := settle(s)
		runs, asked, waits := standing(s)
		got := []string{runs, asked, waits, strings.Join(happened, ", ")}
		for i, cell := range cells[1:] {
			if cell = strings.TrimSpace(cell); cell != got[i] {
				t.Errorf("after %s column %d is %q, the page has %q", step, i+2, got[i], cell)
			}
		}
	}
	if steps < 10 {
		t.Fatalf("found only %d steps", steps)
	}
}

func play(t *testing.T, s *State, step string) {
	t.Helper()
	var task string
	var priority float64
	c := s.Config()
	switch {
	case scan(step, "enqueue %s %g", &task, &priority):
		s.Put(Task{ID: task, Priority: priority})
	case scan(step, "release %s", &task):
		s.Remove(task)
	case scan(step, "set active %d", &c.Active):
		if err := s.Configure(c); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("what is %q?", step)
	}
}

func scan(step, format string, to ...any) bool {
	n, err := fmt.Sscanf(step, format, to...)
	return err == nil && n == len(to)
}

// settle makes the transitions that the rule requires.
func settle(s *State) (happened []string) {
	for {
		next, ok := s.Next()
		if !ok {
			return happened
		}
		status := Acquired
		if next.Event == EventTryRelease {
			status = TryRelease
		}
		s.SetStatus(next.Task, status, 0)
		happened = append(happened, next.Task+" "+next.Event.String())
	}
}

// standing lists the tasks of each status in order.
func standing(s *State) (runs, asked, waits string) {
	named := map[Status][]string{}
	for task := range s.From(1) {
		named[task.Status] = append(named[task.Status], task.ID)
	}
	words := func(of Status) string { return strings.Join(named[of], " ") }
	return words(Acquired), words(TryRelease), words(Wait)
}
