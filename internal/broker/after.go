package broker

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// after is the order that messages of a queue ask for: each may name others, by their message-ids, and is blocked while
// one of these is in the queue. Only what is there when a message is published counts, also when others with the same id
// come later, so messages never wait in a circle. It is not durable: the messages say it all.
//
// Invariants: waits holds the blocked messages, each with the number of ids under which it waits; a message that went
// while it was blocked may still stand there. An id is kept while a message with it lives.
type after struct {
	serial uint64                 // of the last message
	ids    map[queue.Handle]idSum // of the messages of the queue that have one
	live   map[idSum]*liveID
	waits  map[queue.Handle]int // ids that keep a message blocked
}

// liveID is one id, the messages that have it and those that wait for it, in the order in which they were published.
type liveID struct {
	n       int       // messages that have it
	has     []arrival // with some that have gone; the first has not
	waiters []arrival // with some that have gone
	room    int       // so many waiters there may be before those that have gone are forgotten
}

// arrival is a message and when it came.
type arrival struct {
	h      queue.Handle
	serial uint64
}

// idSum stands for a message-id; no two ids will ever share one.
type idSum [16]byte

func sumOf(id []byte) idSum {
	sum := sha256.Sum256(id)
	return idSum(sum[:])
}

func newAfter() *after {
	return &after{ids: map[queue.Handle]idSum{}, live: map[idSum]*liveID{}, waits: map[queue.Handle]int{}}
}

// afterHeader names the message-ids that a message waits for: an array of them, or one as a string, or several as the
// text of a PostgreSQL array.
const afterHeader = "consume_after"

// add takes notice of a new message and tells whether it is blocked.
func (a *after) add(h queue.Handle, env message.Envelope) bool {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return false
	}
	a.serial++
	at := arrival{h, a.serial}
	if len(peek.Headers) > 0 && len(a.live) > 0 {
		v, _ := message.HeaderLookup(peek.Headers, afterHeader)
		for _, id := range awaited(v) {
			a.await(at, sumOf([]byte(id)))
		}
	}
	if len(peek.MessageID) > 0 {
		sum := sumOf(peek.MessageID)
		l := a.live[sum]
		if l == nil {
			l = &liveID{}
			a.live[sum] = l
		}
		a.ids[h] = sum
		l.n++
		l.has = append(l.has, at)
	}
	return a.waits[h] > 0
}

// await has a message wait for an id if a message with that id is there.
func (a *after) await(at arrival, sum idSum) {
	l := a.live[sum]
	if l == nil {
		return
	}
	if n := len(l.waiters); n > 0 && l.waiters[n-1] == at {
		return // named twice
	}
	if len(l.waiters) >= l.room {
		l.waiters = slices.DeleteFunc(l.waiters, func(at arrival) bool { return a.waits[at.h] == 0 })
		l.room = 2*len(l.waiters) + 8
	}
	l.waiters = append(l.waiters, at)
	a.waits[at.h]++
}

// gone takes notice that n contiguous messages have gone, and calls free for those that nothing blocks any more.
func (a *after) gone(h queue.Handle, n int, free func(queue.Handle)) {
	for i := range queue.Handle(n) {
		delete(a.waits, h+i)
		sum, ok := a.ids[h+i]
		if !ok {
			continue
		}
		delete(a.ids, h+i)
		l := a.live[sum]
		if l.n--; l.n == 0 {
			delete(a.live, sum)
		}
		a.trim(l)
		for len(l.waiters) > 0 && (l.n == 0 || l.waiters[0].serial <= l.has[0].serial) {
			w := l.waiters[0].h
			l.waiters = l.waiters[1:]
			left, ok := a.waits[w]
			if left--; ok && left == 0 {
				delete(a.waits, w)
				free(w)
			} else if ok {
				a.waits[w] = left
			}
		}
	}
}

// trim forgets messages that have gone: those at the front, and others when they are many.
func (a *after) trim(l *liveID) {
	alive := func(at arrival) bool { _, ok := a.ids[at.h]; return ok }
	for len(l.has) > 0 && !alive(l.has[0]) {
		l.has = l.has[1:]
	}
	if len(l.has) > 2*l.n+8 {
		l.has = slices.DeleteFunc(l.has, func(at arrival) bool { return !alive(at) })
	}
}

// awaited reads the value of the header; what is no text names no message.
func awaited(v any) []string {
	switch v := v.(type) {
	case message.Bytes:
		return awaited(string(v))
	case string:
		if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") {
			return arrayLiteral(v[1 : len(v)-1])
		}
		return []string{v}
	case message.Array:
		ids := make([]string, 0, len(v))
		for _, e := range v {
			switch e := e.(type) {
			case string:
				ids = append(ids, e)
			case message.Bytes:
				ids = append(ids, string(e))
			}
		}
		return ids
	}
	return nil
}

// arrayLiteral reads the inside of a PostgreSQL array of texts: elements between commas, bare or in double quotes, with
// a backslash before a character that means itself.
func arrayLiteral(s string) (ids []string) {
	var b strings.Builder
	quoted, wasQuoted := false, false
	end := func() {
		id := b.String()
		if !wasQuoted {
			if id = strings.TrimSpace(id); strings.EqualFold(id, "null") {
				id = ""
			}
		}
		if id != "" {
			ids = append(ids, id)
		}
		b.Reset()
		wasQuoted = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			if quoted = !quoted; quoted {
				b.Reset() // blanks before it
			}
			wasQuoted = true
		case c == ',' && !quoted:
			end()
		case !quoted && wasQuoted: // blanks after it
		default:
			b.WriteByte(c)
		}
	}
	end()
	return ids
}

// freed makes ready what waited for n contiguous messages that have gone.
func (sh *shard) freed(q *Queue, h queue.Handle, n int) {
	q.after.gone(h, n, func(w queue.Handle) {
		q.state.Unblock(w)
		sh.mark(q)
	})
}

// recallAfter finds out after a start what is blocked: for each message what came before it and is still there.
func (sh *shard) recallAfter(q *Queue) {
	type known struct {
		h     queue.Handle
		index uint64
		sub   uint32
	}
	var all []known
	q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
		all = append(all, known{it.Handle, it.Index, it.Sub})
		return true
	})
	slices.SortFunc(all, func(a, b known) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.sub, b.sub)) })
	r := sh.b.store.NewReader(sh.id)
	for _, k := range all {
		fact, err := r.Read(k.index, k.sub)
		if err != nil {
			continue // its delivery will tell
		}
		env, err := publishedEnvelope(fact, &sh.scratch)
		if err == nil && q.after.add(k.h, env) {
			q.state.Block(k.h)
		}
	}
}
