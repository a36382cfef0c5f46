package shardstate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// world is a machine that is changed through a Recorder, and one that replays the record.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	refs    counted // of the live machine
	live    *Machine
	queues  []*Queue // plain, jobs, stream, not durable
	facts   *Recorder
	index   uint64
	entries [][]byte
}

// shard returns a machine with the queues of a world.
func shard(refs counted) (*Machine, []*Queue) {
	m := NewMachine(refs)
	var queues []*Queue
	for id, durable := range []bool{true, true, true, false} {
		q := NewQueue(uint64(id+1), durable)
		if durable {
			m.Add(q)
		}
		queues = append(queues, q)
	}
	queues[0].Keys = dedup.New(5)
	return m, queues
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), refs: counted{}, index: 1}
	w.live, w.queues = shard(w.refs)
	w.facts = NewRecorder(w.refs)
	w.facts.Begin(w.index, nil)
	w.facts.UseForJobs(w.queues[1])
	w.facts.MakeStream(w.queues[2])
	return w
}

// seal ends the current entry.
func (w *world) seal() {
	if w.facts.Empty() {
		return
	}
	data, refs := w.facts.Seal()
	w.refs[w.index] += refs
	w.entries = append(w.entries, bytes.Clone(data))
	w.index++
	w.facts.Begin(w.index, nil)
}

// some returns the handle of a live message of a queue, 0 if there is none.
func (w *world) some(q *Queue) (h queue.Handle) {
	n := 0
	q.State.Each(0, func(it *queue.Item, _ queue.Status) bool {
		if n++; w.rng.IntN(n) == 0 {
			h = it.Handle
		}
		return n < 30
	})
	return h
}

func (w *world) publish() {
	m := Message{Env: body(fmt.Sprint(w.rng.Uint64())), Copied: w.rng.IntN(9) == 0}
	if w.rng.IntN(4) == 0 {
		m.Due = 1 + w.rng.Int64N(1000)
	}
	var taking []*Queue
	for _, q := range w.queues {
		if w.rng.IntN(2) == 0 {
			continue
		}
		place := queue.MakeHandle(uint8(w.rng.IntN(3)), 0)
		if q.Stream != nil {
			place = 0
		} else if w.rng.IntN(8) == 0 {
			place = q.State.NextFront(7)
		}
		persistent := q.Durable && (q.Stream != nil || w.rng.IntN(4) > 0)
		taking = append(taking, q)
		m.To(q, place, w.rng.Int64N(2)*w.rng.Int64N(2000), persistent)
	}
	w.facts.Publish(&m)
	for i, q := range taking {
		if q.Stream != nil {
			id, _ := q.Stream.NextID(1000)
			w.facts.AddEntry(q, m.Targets[i].Handle, id)
		}
		if q.Keys != nil && m.Targets[i].logged {
			w.facts.Remember(q, &Key{Key: dedup.KeyOf(m.Env.Body()), At: 5, Until: w.rng.Int64N(50)})
		}
	}
}

// step makes a random change.
func (w *world) step() {
	q := w.queues[w.rng.IntN(len(w.queues))]
	h := w.some(q)
	switch w.rng.IntN(16) {
	case 0, 1, 2, 3, 4:
		w.publish()
	case 5:
		w.seal()
	case 6:
		if most := q.State.NextSeq(h.Priority()) - h.Seq(); h != 0 {
			w.facts.Settle(q, h, 1+w.rng.IntN(int(min(most, 4))))
		}
	case 7:
		if q.State.LendAside(h); q.State.Status(h) == queue.Unacked { // or leased
			w.facts.Return(q, h, 1, w.rng.Int64N(2)*w.rng.Int64N(500))
		}
	case 8:
		if h != 0 {
			w.facts.Reschedule(q, h, 1+w.rng.Int64N(500))
		}
	case 9:
		if h != 0 && q.Stream == nil {
			w.facts.Replace(q, h, body("other"), w.rng.Int64N(100), w.rng.Int64N(100))
		}
	case 10:
		if h != 0 {
			w.facts.Recount(q, h, w.rng.Uint32N(9))
		}
	case 11:
		if w.rng.IntN(20) == 0 {
			w.facts.Purge(q, func(queue.Handle, int) {})
		}
	case 12, 13:
		w.job(w.queues[1])
		if l := q.Jobs; l != nil && h != 0 && l.Leased(h) != nil {
			w.facts.Return(q, h, 1, 0) // comes after leases that are not written yet
		}
	default:
		w.stream(w.queues[2])
	}
}

func (w *world) job(q *Queue) {
	d := job.Done{ID: fmt.Sprint("job", w.rng.IntN(9)), Until: 1 + w.rng.Int64N(500), Attempts: 2, First: 3}
	switch w.rng.IntN(8) {
	case 0, 1, 2, 3:
		for range 1 + w.rng.IntN(3) {
			if it := q.State.Next(0); it != nil {
				w.facts.Lease(q, it.Handle, q.Jobs.Next(), 100, it.Flags&queue.Persistent != 0)
			}
		}
	case 4, 5:
		w.facts.Remembered(q, &d)
	case 6:
		w.facts.ForgetPassed(q, w.rng.Int64N(500))
	default:
		if w.rng.IntN(9) == 0 {
			w.facts.ForgetAll(q)
		}
	}
}

func (w *world) stream(q *Queue) {
	if q.Stream == nil {
		w.facts.MakeStream(q)
		return
	}
	g := q.Stream.Group("g")
	switch at := w.rng.IntN(9); {
	case g == nil:
		w.facts.SetGroup(q, "g", stream.ID{}, stream.Unknown)
	case at == 0 && w.rng.IntN(9) == 0:
		w.facts.EndStream(q)
	case at == 1 && w.rng.IntN(9) == 0:
		w.facts.DropGroup(q, "g")
	case at == 2:
		if h := w.some(q); h != 0 {
			w.facts.TrimStream(q, h)
		}
	case at == 3:
		w.facts.SetStream(q, q.Stream.Last(), stream.ID{}, q.Stream.Added()+1)
	case at == 4:
		w.facts.EnterGroup(q, "g", fmt.Sprint(w.rng.IntN(3)), 7)
	case at == 5:
		w.facts.LeaveGroup(q, "g", fmt.Sprint(w.rng.IntN(3)))
	case at == 6 && g.Len() > 0:
		first, _ := g.Ends()
		w.facts.AckPending(q, "g", []stream.ID{first})
	case at == 7 && g.Len() > 0:
		first, last := g.Ends()
		list := []stream.Pending{{ID: first, Time: 9, Count: 2}}
		if first != last {
			list = append(list, stream.Pending{ID: last, Time: 8, Count: 3})
		}
		w.facts.SetPending(q, "g", "1", 9, list)
	default:
		next, _ := g.Last.Next()
		var ids []stream.ID
		q.Stream.Ascend(next, func(id stream.ID, _ queue.Handle) bool {
			ids = append(ids, id)
			return len(ids) < 3
		})
		if len(ids) > 0 {
			w.facts.Given(q, "g", "1", 8, ids[len(ids)-1], stream.Unknown, ids)
		}
	}
}

// replay returns a machine that applies the entries, starting after a checkpoint if there is one.
func (w *world) replay(checkpoint []byte, from int) (*Machine, counted) {
	w.t.Helper()
	refs := counted{}
	m, _ := shard(refs)
	if checkpoint != nil {
		if _, err := m.Restore(bytes.NewReader(checkpoint)); err != nil {
			w.t.Fatal(err)
		}
	}
	for i, entry := range w.entries[from:] {
		index := uint64(from + i + 1)
		for sub := uint32(0); len(entry) > 0; sub++ {
			size, width := binary.Uvarint(entry)
			end := width + int(size)
			if err := m.Apply(index, sub, entry[width:end]); err != nil {
				w.t.Fatal(err)
			}
			entry = entry[end:]
		}
	}
	return m, refs
}

// written returns a checkpoint.
func written(t *testing.T, f *Frozen) []byte {
	t.Helper()
	for f.Copy() {
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func nobody(*Queue) int { return 0 }

// TestChangesDuringCheckpoint checks that a checkpoint has no changes that came after its start.
func TestChangesDuringCheckpoint(t *testing.T) {
	for seed := range uint64(500) {
		w := newWorld(t, seed)
		for range 100 {
			w.step()
		}
		w.seal()
		want, frozen := w.live.Hash(), w.live.Freeze(false, nobody)
		for range 1 + w.rng.IntN(3) {
			w.step()
		}
		w.seal()
		m, _ := w.replay(written(t, frozen), len(w.entries))
		if m.Hash() != want {
			t.Fatalf("seed %d: the checkpoint has another state", seed)
		}
	}
}

// TestCheckpointInPieces checks a checkpoint of more queues than are copied at once, of which some
// change and some are deleted between.
func TestCheckpointInPieces(t *testing.T) {
	const queues = 2*copyAtOnce + 10
	empty := func() (*Machine, []*Queue) {
		m, list := NewMachine(counted{}), make([]*Queue, queues)
		for i := range list {
			list[i] = NewQueue(uint64(i+1), true)
			m.Add(list[i])
		}
		return m, list
	}
	m, list := empty()
	facts := NewRecorder(counted{})
	facts.Begin(1, nil)
	publish := func(queues []*Queue) {
		for _, q := range queues {
			var msg Message
			msg.To(q, 0, 0, true)
			msg.Env = body("text")
			facts.Publish(&msg)
		}
	}
	publish(list)
	want, frozen, pieces := m.Hash(), m.Freeze(false, nobody), 0
	err := frozen.Complete(func(copy func()) error {
		copy()
		if pieces++; pieces == 1 {
			publish(list[queues/2:])
			for id := range uint64(queues / 2) {
				m.Drop(id + 1)
			}
		}
		return nil
	})
	if err != nil || pieces != 3 {
		t.Fatalf("%d pieces, %v", pieces, err)
	}
	restored, _ := empty()
	if _, err := restored.Restore(bytes.NewReader(written(t, frozen))); err != nil || restored.Hash() != want {
		t.Fatalf("the checkpoint has another state, %v", err)
	}
}

// TestReplay makes random changes through a Recorder. A replay of the entries, complete or after a
// checkpoint, must give the same state and the same references to bodies.
func TestReplay(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		var checkpoint []byte
		from := 0
		for range 400 {
			w.step()
			if w.rng.IntN(100) == 0 {
				w.seal()
				checkpoint, from = written(t, w.live.Freeze(false, nobody)), len(w.entries)
			}
		}
		w.seal()
		for _, c := range []struct {
			name string
			from int
			cp   []byte
		}{{"whole", 0, nil}, {"behind a checkpoint", from, checkpoint}} {
			m, refs := w.replay(c.cp, c.from)
			if m.Hash() != w.live.Hash() {
				t.Fatalf("seed %d, replayed %s: another state", seed, c.name)
			}
			for index, n := range w.refs {
				if refs[index] != n {
					t.Fatalf("seed %d, replayed %s: %d references to entry %d, want %d", seed, c.name, refs[index], index, n)
				}
			}
		}
	}
}
