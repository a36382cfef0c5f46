package mbus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// twinSession is the model of a session's open transaction.
type twinSession struct {
	c     *caller
	open  bool
	posts map[string]bool // its own uncommitted posts, not taken by itself
	taken map[string]bool // committed messages that it holds
	marks []twinMark
}

type twinMark struct {
	mark         int
	posts, taken map[string]bool
}

// TestTransactionsTwin makes random calls in several sessions and compares the messages visible to
// each session with a naive model.
func TestTransactionsTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	fs := vfs.NewMem()
	b := openBroker(t, fs)
	defer func() { enginetest.Close(t, b) }()
	ready := map[string]bool{} // committed, not held
	var sessions []*twinSession
	connect := func() {
		sessions = sessions[:0]
		for range 3 {
			sessions = append(sessions, &twinSession{c: newCaller(t, b, "guest"), posts: map[string]bool{}, taken: map[string]bool{}})
		}
	}
	connect()
	sessions[0].c.call("create_queue", "q", 1)
	n := 0
	// settle ends the transaction of s in the model.
	settle := func(s *twinSession, commit bool) {
		if commit {
			maps.Copy(ready, s.posts)
		} else {
			maps.Copy(ready, s.taken)
		}
		clear(s.posts)
		clear(s.taken)
		s.open, s.marks = false, nil
	}
	for step := range 3000 {
		s := sessions[r.IntN(len(sessions))]
		switch op := r.IntN(20); {
		case op == 0 && !s.open:
			s.c.begin()
			s.open = true
		case op == 1 && s.open:
			s.c.commit()
			settle(s, true)
		case op == 2 && s.open:
			s.c.rollback()
			settle(s, false)
		case op == 3 && s.open:
			s.marks = append(s.marks, twinMark{s.c.s.Savepoint(), maps.Clone(s.posts), maps.Clone(s.taken)})
		case op == 4 && len(s.marks) > 0:
			m := s.marks[len(s.marks)-1]
			s.c.s.RollbackTo(m.mark)
			for iid := range s.taken {
				if !m.taken[iid] {
					ready[iid] = true
				}
			}
			s.posts, s.taken = maps.Clone(m.posts), maps.Clone(m.taken)
		case op < 11:
			n++
			iid := s.c.text("post", "q", fmt.Sprint("n=>", n))
			if s.open {
				s.posts[iid] = true
			} else {
				ready[iid] = true
			}
		case op < 16:
			want := min(r.IntN(4), len(ready)+len(s.posts))
			rows := s.c.call("consumen_q_by_default", want)
			if len(rows) != want {
				t.Fatalf("step %d: %d messages, want %d", step, len(rows), want)
			}
			for _, row := range rows {
				iid := row[colIID].(string)
				switch {
				case s.posts[iid]:
					delete(s.posts, iid)
				case ready[iid]:
					delete(ready, iid)
					if s.open {
						s.taken[iid] = true
					}
				default:
					t.Fatalf("step %d: %s came, which was not to be had", step, iid)
				}
			}
		case op < 18:
			if all := slices.Sorted(maps.Keys(ready)); len(all) > 0 {
				iid := all[r.IntN(len(all))]
				if s.c.call("take", iid)[0][0] == nil {
					t.Fatalf("step %d: %s could not be taken", step, iid)
				}
				delete(ready, iid)
				if s.open {
					s.taken[iid] = true
				}
			}
		case op == 18 && r.IntN(10) == 0: // all sessions end and the broker restarts
			for _, s := range sessions {
				s.c.s.Close()
				settle(s, false)
			}
			enginetest.Close(t, b)
			b = openBroker(t, fs)
			connect()
		default:
			held := 0
			for _, other := range sessions {
				if other != s {
					held += len(other.taken)
				}
			}
			want := int64(len(ready) + len(s.posts) + held)
			if got := s.c.call("estimated_messages", "q")[0][0]; got != want {
				t.Fatalf("step %d: %v messages are seen, want %d", step, got, want)
			}
		}
	}
}
