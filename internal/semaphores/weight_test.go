package semaphores

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A large call of one caller is split into rounds, between which others are served.
func TestTurns(t *testing.T) {
	page := &Page{Limit: pageMost}
	small, few := &Look{}, &Status{Tasks: make([]string, maxRequestTasks/2)}
	for _, c := range []struct {
		changes []Change
		want    int
	}{
		{nil, 0},
		{[]Change{page, page}, 1},
		{[]Change{small, page}, 1},
		{[]Change{few, few, small}, 2},
		{[]Change{&Enqueue{Entries: make([]Entry, MaxEntries)}, small}, 1},
		{[]Change{&Release{Tasks: make([]string, maxRequestTasks)}, &Renew{}}, 1},
		{[]Change{small, &Scan{Limit: 5}, &Page{}, &Delete{}}, 4},
	} {
		if got := together(c.changes); got != c.want {
			t.Errorf("%d changes: %d together, want %d", len(c.changes), got, c.want)
		}
	}
}

func TestManyTurns(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	var changes []Change
	var pages []*Page
	for i := range 3 {
		all := make([]Entry, maxRequestTasks)
		for j := range all {
			all[j] = Entry{Task: fmt.Sprint(i*maxRequestTasks + j), Priority: 1}
		}
		pages = append(pages, &Page{Of: Of{Key: "k"}, Limit: 1, Only: []semaphore.Status{semaphore.Wait}, From: i*maxRequestTasks + 1})
		changes = append(changes, &Enqueue{Of: Of{Key: "k"}, Entries: all}, pages[i])
	}
	groups := n.m.Stats().Groups
	n.must(n.m.Do(n.s, changes...))
	n.same("groups of the log", n.m.Stats().Groups-groups, 3)
	for i, p := range pages {
		want := fmt.Sprint(i * maxRequestTasks)
		if i == 0 {
			want = "1" // the first one runs
		}
		n.must(p.Err)
		n.same("first of the page", p.States[0].ID, want)
		n.same("next", p.Next, map[bool]int{true: 3, false: i*maxRequestTasks + 2}[i == 0])
	}
	n.must(n.m.Do(n.s))
	n.close()
}

// A page never exceeds the maximum, and returns where the next one begins.
func TestLongestPage(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.fill("k", pageMost+1)
	for _, limit := range []int{pageMost, pageMost + 1, 1 << 30} {
		page, scan := &Page{Of: Of{Key: "k"}, Limit: limit}, &Scan{Of: Of{Key: "k"}, Limit: limit}
		n.do(page)
		n.do(scan)
		n.same("page", fmt.Sprint(len(page.States), page.Next), fmt.Sprint(pageMost, pageMost+1))
		n.same("scan", fmt.Sprint(len(scan.States), scan.Next != 0), fmt.Sprint(pageMost, true))
	}
	n.close()
}

// A group is atomic and may not be too large.
func TestGroupThatIsTooLarge(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	changes := []Change{&Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1")}}
	for range maxAtomicTasks / pageMost {
		changes = append(changes, &Page{Of: Of{Key: "k"}, Limit: pageMost})
	}
	n.must(n.m.DoWith(n.s, Group{}, changes...))
	changes[0] = &Release{Of: Of{Key: "k"}, Tasks: []string{"a"}}
	n.fails(n.m.DoWith(n.s, Group{}, append(changes, &Page{Of: Of{Key: "k"}, Limit: pageMost})...), failure.ErrTooLarge)
	n.shows("k", "a:ACQUIRED")
	n.close()
}
