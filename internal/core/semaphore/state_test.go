package semaphore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// settle makes transitions until the rule is satisfied, and returns them as text.
func settle(t *testing.T, s *semaphore.State) string {
	t.Helper()
	var did []string
	for {
		tr, more := s.Next()
		if !more {
			return strings.Join(did, " ")
		}
		if len(did) > 10*s.Len() {
			t.Fatalf("the rule finds no end: %v", did)
		}
		status := map[semaphore.Event]semaphore.Status{semaphore.EventAcquired: semaphore.Acquired, semaphore.EventTryRelease: semaphore.TryRelease,
			semaphore.EventRetained: semaphore.Acquired}[tr.Event]
		if !s.SetStatus(tr.Task, status, 0) {
			t.Fatalf("transition of %q, which is not there", tr.Task)
		}
		did = append(did, map[semaphore.Event]string{semaphore.EventAcquired: "+", semaphore.EventTryRelease: "?", semaphore.EventRetained: "!"}[tr.Event]+tr.Task)
	}
}

// look lists the tasks in order, with their status.
func look(s *semaphore.State) string {
	var all []string
	for t := range s.From(1) {
		all = append(all, t.ID+map[semaphore.Status]string{semaphore.Wait: "", semaphore.Acquired: "+", semaphore.TryRelease: "?"}[t.Status])
	}
	return strings.Join(all, " ")
}

func TestRule(t *testing.T) {
	type state = semaphore.State
	put := func(id string, priority float64) func(*state) {
		return func(s *state) {
			old, _ := s.Get(id)
			old.ID, old.Priority = id, priority
			s.Put(old)
		}
	}
	remove := func(id string) func(*state) { return func(s *state) { s.Remove(id) } }
	configure := func(active, tryRelease int) func(*state) {
		return func(s *state) {
			c := s.Config()
			c.Active, c.TryRelease = active, tryRelease
			if err := s.Configure(c); err != nil {
				t.Error(err)
			}
		}
	}
	type step struct {
		do         func(*state)
		did, after string
	}
	two := semaphore.Config{Active: 2, TryRelease: 1}
	for name, c := range map[string]struct {
		config semaphore.Config
		steps  []step
	}{
		"the first by priority": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 0), "", "b+ a+ c"}, {remove("b"), "+c", "a+ c+"}}},
		"equals in the order they came": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 1), "+b", "a+ b+"}, {put("c", 1), "", "a+ b+ c"}, {put("d", 1), "", "a+ b+ c d"}, {remove("a"), "+c", "b+ c+ d"}}},
		"an outranked one is asked, and keeps its place": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {remove("a"), "+c", "c+ b+"}}},
		"no more than try_release are asked": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {put("d", 4), "", "d c b+ a?"}}},
		"retained when the place is not needed": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {remove("c"), "!a", "b+ a+"}}},
		"retained by its own new priority, another is asked": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {put("a", 9), "!a ?b", "a+ c b?"}}},
		"a free place goes to the first that waits": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {put("d", 4), "", "d c b+ a?"}, {remove("b"), "+d", "d+ c a?"}}},
		"active lowered: asked, not thrown out": {semaphore.Config{Active: 3, TryRelease: 2}, []step{
			{put("a", 3), "+a", "a+"}, {put("b", 2), "+b", "a+ b+"}, {put("c", 1), "+c", "a+ b+ c+"}, {configure(0, 2), "?c ?b", "a+ b? c?"},
			{configure(2, 2), "!b", "a+ b+ c?"}, {configure(3, 2), "!c", "a+ b+ c+"}}},
		"try_release raised and lowered": {two, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "+b", "b+ a+"}, {put("c", 3), "?a", "c b+ a?"}, {put("d", 4), "", "d c b+ a?"},
			{configure(2, 2), "?b", "d c b? a?"}, {configure(2, 0), "!b !a", "d c b+ a+"}}},
		"a smaller number first": {semaphore.Config{Active: 1, TryRelease: 1, Ascending: true}, []step{
			{put("a", 1), "+a", "a+"}, {put("b", 2), "", "a+ b"}, {put("c", -1), "?a", "c a? b"}, {remove("a"), "+c", "c+ b"}}},
		"nobody when active is 0": {semaphore.Config{}, []step{{put("a", 1), "", "a"}, {configure(1, 0), "+a", "a+"}}},
		"minus zero is zero": {two, []step{
			{put("a", 0), "+a", "a+"}, {put("b", math.Copysign(0, -1)), "+b", "a+ b+"}, {put("c", 0), "", "a+ b+ c"}}},
		"many at once before the rule is asked": {two, []step{
			{func(s *state) { put("a", 1)(s); put("b", 2)(s); put("c", 3)(s) }, "+c +b", "c+ b+ a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := semaphore.New(c.config)
			for i, step := range c.steps {
				step.do(s)
				if did := settle(t, s); did != step.did {
					t.Errorf("step %d did %q, want %q", i, did, step.did)
				}
				if after := look(s); after != step.after {
					t.Errorf("after step %d %q, want %q", i, after, step.after)
				}
			}
		})
	}
}

func TestPutKeepsWhenItCame(t *testing.T) {
	s := semaphore.New(semaphore.Config{Active: 1})
	if !s.Put(semaphore.Task{ID: "a", Enqueued: 10}) || !s.Put(semaphore.Task{ID: "b", Enqueued: 20}) {
		t.Error("new tasks were there already")
	}
	if s.Put(semaphore.Task{ID: "a", Priority: 5, Enqueued: 30, Seq: 40, Lease: 50, Owner: 60}) {
		t.Error("a was not there")
	}
	want := semaphore.Task{ID: "a", Priority: 5, Enqueued: 10, Seq: 1, Lease: 50, Owner: 60}
	if got, ok := s.Get("a"); !ok || got != want {
		t.Errorf("a is %+v, want %+v", got, want)
	}
	if n := s.NextSeq(); n != 3 {
		t.Errorf("next number %d, want 3", n)
	}
	s.Put(semaphore.Task{ID: "c", Seq: 7})
	if n := s.NextSeq(); n != 8 {
		t.Errorf("next number %d, want 8", n)
	}
}

func TestOrderStaysWhileThereAreTasks(t *testing.T) {
	s := semaphore.New(semaphore.Config{Active: 1})
	s.Put(semaphore.Task{ID: "a"})
	if err := s.Configure(semaphore.Config{Active: 1, Ascending: true}); err != semaphore.ErrOrder {
		t.Errorf("got %v, want ErrOrder", err)
	}
	s.Remove("a")
	if err := s.Configure(semaphore.Config{Active: 1, Ascending: true}); err != nil {
		t.Error(err)
	}
}

func TestEnds(t *testing.T) {
	s := semaphore.New(semaphore.Config{Active: 9})
	if end := s.NextEnd(); end != math.MaxInt64 {
		t.Errorf("end %d of none", end)
	}
	for i, until := range []int64{300, 100, 200, 100, 0} {
		s.Put(semaphore.Task{ID: fmt.Sprint(i), Status: semaphore.Acquired, Until: until})
	}
	s.Put(semaphore.Task{ID: "waits", Until: 1})
	if end := s.NextEnd(); end != 100 {
		t.Errorf("first end %d, want 100", end)
	}
	for _, c := range []struct {
		now  int64
		max  int
		want string
	}{{99, 9, "[]"}, {100, 9, "[1 3]"}, {250, 9, "[1 3 2]"}, {250, 2, "[1 3]"}, {999, 9, "[1 3 2 0]"}} {
		if got := fmt.Sprint(s.Ended(c.now, c.max)); got != c.want {
			t.Errorf("ended at %d: %s, want %s", c.now, got, c.want)
		}
	}
	s.SetStatus("1", semaphore.TryRelease, 400) // renewed
	s.SetStatus("3", semaphore.Wait, 400)       // waits, so it has no end
	s.Remove("2")
	if got := fmt.Sprint(s.Ended(999, 9)); got != "[0 1]" {
		t.Errorf("ended %s, want [0 1]", got)
	}
}

func TestOwners(t *testing.T) {
	s := semaphore.New(semaphore.Config{Active: 9})
	for i, owner := range []int64{7, 8, 7, 0, 7} {
		s.Put(semaphore.Task{ID: fmt.Sprint(i), Owner: owner, Priority: float64(i)})
	}
	if got := fmt.Sprint(s.Owned(7, 9)); got != "[0 2 4]" {
		t.Errorf("tasks of 7: %s", got)
	}
	s.Put(semaphore.Task{ID: "1", Owner: 7})
	s.Remove("2")
	if got := fmt.Sprint(s.Owned(7, 9)); got != "[0 1 4]" {
		t.Errorf("tasks of 7: %s", got)
	}
	if got := s.Owned(7, 2); len(got) != 2 {
		t.Errorf("two tasks of 7: %s", got)
	}
	if owners := slices.Sorted(s.Owners()); !slices.Equal(owners, []int64{7}) {
		t.Errorf("owners %v", owners)
	}
}

// TestScanSeesAllThatStay checks that a task that stays is visited although others come and go
// between the pages of a scan.
func TestScanSeesAllThatStay(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		s := semaphore.New(semaphore.Config{})
		for i := range 2000 {
			s.Put(semaphore.Task{ID: fmt.Sprint(i), Priority: float64(r.IntN(50))})
		}
		seen, last := map[string]bool{}, 2000
		for from := uint32(0); ; {
			if from = s.Scan(from, 1+r.IntN(100), func(t semaphore.Task) { seen[t.ID] = true }); from == 0 {
				break
			}
			for range r.IntN(100) {
				s.Remove(fmt.Sprint(1000 + r.IntN(1000)))
				s.Put(semaphore.Task{ID: fmt.Sprint(last)})
				last++
			}
		}
		for i := range 1000 {
			if !seen[fmt.Sprint(i)] {
				t.Fatalf("task %d was there all the time, and not seen", i)
			}
		}
	}
	if next := semaphore.New(semaphore.Config{}).Scan(0, 10, func(semaphore.Task) { t.Error("a task of none") }); next != 0 {
		t.Errorf("next %d of nothing", next)
	}
}

func TestOfStatuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := semaphore.New(semaphore.Config{Active: 1})
	for i := range 3000 {
		s.Put(semaphore.Task{ID: fmt.Sprint(i), Priority: float64(rng.IntN(500)), Status: semaphore.Status(rng.IntN(40) / 19)})
	}
	for _, only := range [][]semaphore.Status{nil, {semaphore.Wait}, {semaphore.Acquired}, {semaphore.TryRelease}, {semaphore.TryRelease, semaphore.Wait}, {semaphore.Acquired, semaphore.TryRelease}} {
		for _, from := range []int{-1, 0, 1, 2, 63, 64, 65, 1500, 3000, 3001} {
			want := map[int]string{}
			s.Scan(0, 1<<30, func(task semaphore.Task) {
				if at := s.Position(task.ID); at >= from && (len(only) == 0 || slices.Contains(only, task.Status)) {
					want[at] = task.ID
				}
			})
			last := 0
			for at, task := range s.Of(from, only...) {
				if at <= last || want[at] != task.ID {
					t.Fatalf("%v from %d: task %s at %d behind %d, want %q", only, from, task.ID, at, last, want[at])
				}
				last = at
				delete(want, at)
			}
			if len(want) > 0 {
				t.Errorf("%v from %d: %d are missing", only, from, len(want))
			}
		}
	}
	for at := range s.Of(10) {
		if at != 10 {
			t.Errorf("begins at %d", at)
		}
		break
	}
}
