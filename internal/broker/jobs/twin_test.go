package jobs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// twinJob is a message in the naive model, which is a list of messages in queue order and the
// remembered ids.
type twinJob struct {
	seq        int
	own, body  string
	persistent bool
	count      uint32
	due        int64
	first      int64
	behind     bool
	front      *twinJob // the one it waits behind
	out        bool     // a worker has it
	taken      string   // under this id
	until      int64
	token      Token // zero: a consumer
	delivery   shard.Delivery
}

type twinDone struct {
	until    int64
	attempts uint32
	logged   bool
}

// jobTwin runs the engine and the model side by side.
type jobTwin struct {
	t     *testing.T
	rng   *rand.Rand
	fs    *vfs.Mem
	clock *enginetest.Clock
	c     jobClient
	limit int64 // on returns; -1: none

	seq  int
	all  []*twinJob
	done map[string]*twinDone
	dead []bool // the dead letters; true: persistent
}

// TestJobsAgainstTwin applies random commands, publishes, deliveries, time and restarts to the
// engine and to lists.
func TestJobsAgainstTwin(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &jobTwin{
				t: t, rng: rand.New(rand.NewPCG(seed, 5)), fs: vfs.NewMem(), clock: enginetest.NewClock(1_000_000), done: map[string]*twinDone{},
				limit: []int64{-1, 3}[seed%2],
			}
			w.open()
			w.c.Queue("q", func(s *catalog.QueueSpec) {
				s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
				s.Policy.DeliveryLimit = w.limit
			})
			w.c.Queue("dead", nil)
			for step := range 1500 {
				w.step()
				if step%5 == 0 {
					w.compare(step)
				}
			}
			w.compare(-1)
			w.c.Close()
			enginetest.Close(t, w.c.B)
		})
	}
}

func (w *jobTwin) open() {
	b := openBroker(w.t, w.fs, func(o *broker.Options) {
		o.Now, o.Shards, o.SegmentBytes, o.CheckpointBytes, o.MemoryLimit = w.clock.Now, 1, 16<<10, 4<<10, 64<<10
	})
	w.c = jobClient{enginetest.NewClient(w.t, b), "q"}
}

func (w *jobTwin) restart(clean bool) {
	enginetest.Sync(w.t, w.c.B)
	want, err := w.c.B.Hash()
	enginetest.Must(w.t, err)
	old := w.c
	if clean {
		old.Close()
		enginetest.Close(w.t, old.B)
	} else {
		w.fs = w.fs.CrashClone(w.rng)
	}
	w.open()
	got, err := w.c.B.Hash()
	enginetest.Must(w.t, err)
	orphan := slices.ContainsFunc(w.all, func(m *twinJob) bool { return m.behind && !m.front.persistent }) // it comes forward now, in the log too
	if got != want && !orphan {
		w.t.Fatalf("hash %x after a restart (clean %v), want %x", got, clean, want)
	}
	if !clean {
		old.Close()
		enginetest.Close(w.t, old.B)
	}
	w.all = slices.DeleteFunc(w.all, func(m *twinJob) bool { return !m.persistent })
	w.c.At("q", func(at shard.Context) { w.seq = int(at.Deliveries().NextSeq(0)) - 1 }) // sequence numbers of transient messages are reused
	for _, m := range w.all {
		if m.out && m.token == (Token{}) {
			m.out = false
		}
	}
	for id, d := range w.done {
		if !d.logged {
			delete(w.done, id)
		}
	}
	w.c.status("none") // waits until the queue's jobs are known
	w.dead = slices.DeleteFunc(w.dead, func(persistent bool) bool { return !persistent })
	for _, m := range w.all {
		if m.behind {
			if m.front = w.primary(m.own); m.front == nil {
				m.behind, m.due, m.first = false, w.now(), w.now()
			}
		}
	}
}

func (w *jobTwin) now() int64 { return w.clock.MS.Load() }

// primary returns the message that owns a message-id.
func (w *jobTwin) primary(own string) *twinJob {
	for _, m := range w.all {
		if !m.behind && m.own != "" && m.own == own {
			return m
		}
	}
	return nil
}

func (w *jobTwin) id(m *twinJob) string {
	if m.behind || w.primary(m.own) == m {
		return m.own
	}
	return fmt.Sprint("@", m.seq)
}

func (w *jobTwin) find(id string) *twinJob {
	for _, m := range w.all {
		if !m.behind && w.id(m) == id {
			return m
		}
	}
	return nil
}

func (w *jobTwin) behind(id string) *twinJob {
	for _, m := range w.all {
		if m.behind && m.own == id {
			return m
		}
	}
	return nil
}

func (w *jobTwin) state(id string) job.State {
	m, d := w.find(id), w.done[id]
	switch {
	case m != nil && m.out && w.behind(id) != nil:
		return job.LockedWithRequeue
	case m != nil && m.out:
		return job.Locked
	case m != nil && d != nil:
		return job.DoneWithRequeue
	case m != nil && m.due > w.now():
		return job.QueuedWithBackoff
	case m != nil:
		return job.Queued
	case d == nil:
		return job.None
	case d.until > w.now():
		return job.DoneWithBackoff
	}
	return job.DoneAwaitingGC
}

// remove removes a message. The one behind it comes forward.
func (w *jobTwin) remove(m *twinJob, at int64) {
	w.all = slices.DeleteFunc(w.all, func(x *twinJob) bool { return x == m })
	for _, b := range w.all {
		if b.behind && b.front == m {
			b.behind, b.due, b.first = false, at, at
		}
	}
}

// back returns a message that a worker had.
func (w *jobTwin) back(m *twinJob, due int64) {
	m.out, m.token = false, Token{}
	m.count++
	m.due = due
	if w.limit >= 0 && int64(m.count) > w.limit {
		w.remove(m, w.now())
		w.dead = append(w.dead, m.persistent)
	}
}

// advance lets time pass: leases end in the order of their deadlines.
func (w *jobTwin) advance(ms int64) {
	enginetest.Sync(w.t, w.c.B)
	w.clock.MS.Add(ms)
	enginetest.Sync(w.t, w.c.B) // the timers run
	for {
		var over *twinJob
		for _, m := range w.all {
			if m.out && m.token != (Token{}) && m.until <= w.now() && (over == nil || m.until < over.until || m.until == over.until && m.token.number < over.token.number) {
				over = m
			}
		}
		if over == nil {
			return
		}
		w.back(over, 0)
	}
}

// ready returns the next message that can be taken.
func (w *jobTwin) ready() *twinJob {
	for _, m := range w.all {
		if !m.out && !m.behind && m.due <= w.now() {
			return m
		}
	}
	return nil
}

func (w *jobTwin) add(m *twinJob) {
	w.seq++
	m.seq = w.seq
	w.all = append(w.all, m)
}

func (w *jobTwin) step() {
	switch op := w.rng.IntN(100); {
	case op < 30:
		w.enqueue()
	case op < 50:
		w.take()
	case op < 70:
		w.report()
	case op < 74:
		w.extend()
	case op < 80:
		w.publish()
	case op < 85:
		w.consume()
	case op < 88:
		w.cancel()
	case op < 96:
		w.advance(w.rng.Int64N(120))
	case op < 97:
		w.wipe()
	case op < 98:
		w.c.Flush()
		w.c.B.Checkpoint()
	default:
		w.restart(w.rng.IntN(2) == 0)
	}
}

func (w *jobTwin) pickID() string {
	if len(w.all) > 0 && w.rng.IntN(6) == 0 {
		return w.id(w.all[w.rng.IntN(len(w.all))])
	}
	return fmt.Sprint("id", w.rng.IntN(12))
}

func (w *jobTwin) enqueue() {
	id := w.pickID()
	for id[0] == '@' { // such an id may denote an unnamed job
		id = fmt.Sprint("id", w.rng.IntN(12))
	}
	e := &Enqueue{OnQueue: enginetest.On("q"), ID: []byte(id), Body: fmt.Appendf(nil, "%d%*d", w.seq, 1+w.rng.IntN(300), 0)}
	e.Update, e.Requeue, e.ResetBackoff = w.rng.IntN(2) == 0, w.rng.IntN(2) == 0, w.rng.IntN(4) == 0
	e.Backoff = int64(w.rng.IntN(2) * w.rng.IntN(100))
	enginetest.Must(w.t, w.c.Do(e))
	m, d, now := w.find(id), w.done[id], w.now()
	due := int64(0)
	if e.Backoff > 0 {
		due = now + e.Backoff
	}
	state := w.state(id)
	var want error
	updated := false
	switch job.Decide(state, job.Wish{Update: e.Update, Requeue: e.Requeue, ResetBackoff: e.ResetBackoff}, d != nil && d.until > now) {
	case job.Add:
		w.add(&twinJob{own: id, body: string(e.Body), persistent: true, due: due, first: now})
	case job.AddAfter:
		at := max(d.until, now)
		w.add(&twinJob{own: id, body: string(e.Body), persistent: true, due: at, first: at})
	case job.AddBehind:
		w.add(&twinJob{own: id, body: string(e.Body), persistent: true, behind: true, front: m})
	case job.Replace:
		updated = true
		if !e.ResetBackoff || state == job.DoneWithRequeue {
			due = m.due
		}
		if !m.persistent { // it becomes a new one
			w.all = slices.DeleteFunc(w.all, func(x *twinJob) bool { return x == m })
			next := &twinJob{own: id, body: string(e.Body), persistent: true, due: due, first: m.first}
			w.add(next)
			for _, b := range w.all {
				if b.front == m {
					b.front = next
				}
			}
			break
		}
		m.body, m.due = string(e.Body), due
	case job.ReplaceBehind:
		updated = true
		w.behind(id).body = string(e.Body)
	case job.Retime:
		updated = true
		m.due = due
	case job.AlreadyQueued:
		want = failure.ErrAlreadyQueued
	case job.IsLocked:
		want = failure.ErrLocked
	case job.InBackoff:
		want = failure.ErrBackoff
	}
	if !errors.Is(e.Err, want) || want == nil && e.Updated != updated {
		w.t.Fatalf("enqueue %q in state %v: %v, updated %v; want %v, %v", id, state, e.Err, e.Updated, want, updated)
	}
}

func (w *jobTwin) take() {
	n, lock := 1+w.rng.IntN(3), 20+w.rng.Int64N(300)
	got := w.c.take(n, lock)
	for id, d := range w.done {
		if d.until <= w.now() {
			delete(w.done, id)
		}
	}
	for i := range n {
		m := w.ready()
		if (m == nil) != (i >= len(got)) {
			w.t.Fatalf("%d jobs taken, the twin has %+v", len(got), m)
		}
		if m == nil {
			return
		}
		j := got[i]
		if string(j.ID) != w.id(m) || string(j.Env.Body()) != m.body || j.Attempt != m.count+1 || j.Lock != lock || j.First != m.first {
			w.t.Fatalf("took %q %q attempt %d lock %d first %d, want %q %+v", j.ID, j.Env.Body(), j.Attempt, j.Lock, j.First, w.id(m), m)
		}
		m.out, m.token, m.until, m.taken = true, j.Token, w.now()+lock, w.id(m)
	}
}

// leased picks a leased message, sometimes with a wrong token.
func (w *jobTwin) leased() (m *twinJob, id string, token Token, stale bool) {
	var out []*twinJob
	for _, m := range w.all {
		if m.out && m.token != (Token{}) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, "none", Token{1, 1}, true
	}
	m = out[w.rng.IntN(len(out))]
	id, token = m.taken, m.token
	switch w.rng.IntN(12) {
	case 0:
		token.number--
		return m, id, token, true
	case 1:
		return m, id + "x", token, true
	}
	return m, id, token, false
}

func (w *jobTwin) report() {
	m, id, token, stale := w.leased()
	r := &Report{OnQueue: enginetest.On("q"), ID: []byte(id), Token: token, Outcome: []Outcome{Done, Done, Retry, Failed}[w.rng.IntN(4)]}
	r.Backoff = int64(w.rng.IntN(2) * w.rng.IntN(150))
	enginetest.Must(w.t, w.c.Do(r))
	if stale != errors.Is(r.Err, failure.ErrStale) || !stale && r.Err != nil {
		w.t.Fatalf("report on %q: %v, stale %v", id, r.Err, stale)
	}
	if stale {
		return
	}
	at := w.now() + r.Backoff
	if r.Outcome == Retry {
		due := int64(0)
		if r.Backoff > 0 {
			due = at
		}
		w.back(m, due)
		return
	}
	if r.Outcome == Failed {
		w.dead = append(w.dead, m.persistent)
	}
	if r.Backoff > 0 || w.done[id] == nil {
		w.done[id] = &twinDone{until: at, attempts: m.count + 1, logged: r.Backoff > 0}
	}
	w.remove(m, at)
}

func (w *jobTwin) extend() {
	m, id, token, stale := w.leased()
	e := &Extend{OnQueue: enginetest.On("q"), ID: []byte(id), Token: token, Lock: 1 + w.rng.Int64N(400)}
	enginetest.Must(w.t, w.c.Do(e))
	if stale != errors.Is(e.Err, failure.ErrStale) || !stale && e.Err != nil {
		w.t.Fatalf("extend %q: %v, stale %v", id, e.Err, stale)
	}
	if !stale {
		m.until = w.now() + e.Lock
	}
}

// publish publishes as another protocol does, without checking whether the id exists.
func (w *jobTwin) publish() {
	m := &twinJob{body: fmt.Sprint("published ", w.seq), persistent: w.rng.IntN(3) > 0}
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasTimestamp, DeliveryMode: 1, Timestamp: message.Timestamp(w.seq + 1)}
	if m.persistent {
		props.DeliveryMode = 2
	}
	if w.rng.IntN(2) == 0 {
		m.own = w.pickID()
		props.Flags, props.MessageID = props.Flags|message.HasMessageID, m.own
	}
	if m.own != "" && m.own[0] == '@' {
		return
	}
	m.first = int64(props.Timestamp) * 1000
	w.c.Post("", "q", m.body, props, nil)
	w.c.Flush()
	w.add(m)
}

// consume makes a consumer get a message, or settle one that it has.
func (w *jobTwin) consume() {
	for _, m := range w.all {
		if m.out && m.token == (Token{}) {
			switch w.rng.IntN(4) {
			case 0:
				w.c.Ack(m.delivery.Queue, nil, m.delivery.Handle, 1)
				w.remove(m, w.now())
			case 1:
				w.c.Requeue(m.delivery.Queue, nil, m.delivery.Handle, 1)
				w.back(m, 0)
			case 2:
				w.c.Reject(m.delivery.Queue, nil, m.delivery.Handle, 1)
				w.remove(m, w.now())
				w.dead = append(w.dead, m.persistent)
			default:
				continue
			}
			w.c.Flush()
			return
		}
	}
	d, _, ok, err := w.c.Get("q", false)
	enginetest.Must(w.t, err)
	m := w.ready()
	if ok != (m != nil) || ok && string(d.Env.Body()) != m.body {
		w.t.Fatalf("got %v %q, want %+v", ok, d.Env, m)
	}
	if ok {
		m.out, m.delivery = true, d
	}
}

func (w *jobTwin) cancel() {
	id := w.pickID()
	k := &Cancel{OnQueue: enginetest.On("q"), ID: []byte(id), Force: w.rng.IntN(2) == 0}
	enginetest.Must(w.t, w.c.Do(k))
	m, want, locked := w.find(id), false, false
	switch w.state(id) {
	case job.Queued, job.QueuedWithBackoff, job.DoneWithRequeue:
		want = true
	case job.Locked, job.LockedWithRequeue:
		want = k.Force && m.token != (Token{})
		locked = !want
	}
	if locked != errors.Is(k.Err, failure.ErrLocked) || !locked && k.Cancelled != want {
		w.t.Fatalf("cancel %q in state %v: %v, %v", id, w.state(id), k.Cancelled, k.Err)
	}
	if want {
		b := w.behind(id)
		w.all = slices.DeleteFunc(w.all, func(x *twinJob) bool { return x == m || x == b })
	}
}

// wipe removes the ready messages, or all that no consumer has.
func (w *jobTwin) wipe() {
	if w.rng.IntN(2) == 0 {
		_, err := w.c.PurgeQueue("q")
		enginetest.Must(w.t, err)
		w.purgeTwin()
		return
	}
	w.c.MustDo(&Clear{OnQueue: enginetest.On("q")})
	w.all = slices.DeleteFunc(w.all, func(m *twinJob) bool { return !m.out || m.token != (Token{}) })
	clear(w.done)
}

// purgeTwin removes the messages that are ready now.
func (w *jobTwin) purgeTwin() {
	var gone []*twinJob
	for _, m := range w.all {
		if !m.out && !m.behind && m.due <= w.now() {
			gone = append(gone, m)
		}
	}
	for _, m := range gone {
		w.remove(m, w.now())
	}
}

// compare compares the whole state.
func (w *jobTwin) compare(step int) {
	t := w.t
	for i := range 12 {
		id := fmt.Sprint("id", i)
		info := w.c.status(id)
		if want := w.state(id); info.State != want {
			t.Fatalf("step %d: %q is %v, want %v", step, id, info.State, want)
		}
		m, d := w.find(id), w.done[id]
		attempts := uint32(0)
		switch {
		case m != nil && info.State != job.DoneWithRequeue:
			if attempts = m.count; m.out {
				attempts++
			}
		case d != nil:
			attempts = d.attempts
		}
		if info.Attempts != attempts {
			t.Fatalf("step %d: %q %v has %d attempts, want %d", step, id, info.State, info.Attempts, attempts)
		}
	}
	counts := &Counts{OnQueue: enginetest.On("q")}
	content := &Content{OnQueue: enginetest.On("q"), Max: 1 + w.rng.IntN(7)}
	w.c.MustDo(counts)
	want := Counts{Done: len(w.done)}
	listed := map[string]job.State{}
	for _, m := range w.all {
		switch {
		case m.behind:
			want.Behind++
		case m.out:
			want.Locked++
		case m.due > w.now():
			want.Backoff++
		default:
			want.Queued++
		}
		if !m.behind {
			listed[w.id(m)] = w.state(w.id(m))
		}
	}
	for id, d := range w.done {
		if d.until > w.now() {
			want.DoneBackoff++
		}
		listed[id] = w.state(id)
	}
	counts.OnQueue = broker.OnQueue{}
	if *counts != want {
		t.Fatalf("step %d: counts %+v, want %+v", step, *counts, want)
	}
	for {
		w.c.MustDo(content)
		for _, info := range content.Jobs {
			if s, ok := listed[string(info.ID)]; !ok || s != info.State {
				t.Fatalf("step %d: listed %q %v, want %v %v", step, info.ID, info.State, ok, s)
			}
			delete(listed, string(info.ID))
		}
		if content.Next == "" {
			break
		}
		content.Cursor = content.Next
	}
	if len(listed) > 0 {
		t.Fatalf("step %d: not listed: %v", step, listed)
	}
	status, err := inspect.Queue(w.c.Session, "dead")
	enginetest.Must(t, err)
	if status.Ready != len(w.dead) {
		t.Fatalf("step %d: %d dead letters, want %d", step, status.Ready, len(w.dead))
	}
}
