package semkeys

import (
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// history is how many events are kept for watches that start in the past.
const history = 1 << 14

// happening is an event with its revision in the feed.
type happening struct {
	revision int64
	semaphores.Event
}

// path returns the path of the key that the event concerns.
func (h *happening) path() path { return path{h.Key, h.Task.ID} }

// feed collects all events of semaphores, from the first request on that may be followed by a
// watch. It assigns their revisions, keeps the latest events, and passes them to the watches.
type feed struct {
	n *Namespace

	opening sync.Mutex // held while the feed is opened or closed; locked before mu
	session *broker.Session
	stop    func() // not nil while the feed is open
	closed  bool

	mu       sync.Mutex
	on       bool
	vhost    catalog.VHostID // whose events it collects
	floor    int64           // all events from this revision on are kept
	last     int64           // revision of the latest event
	latest   []*happening    // a ring buffer once it is full
	oldest   int             // index of the oldest event in latest
	exact    map[path]watches
	ranges   map[string]watches // watches of tasks of one semaphore
	spanning watches            // watches of several semaphores
}

// watches is a set of watches.
type watches map[*Watch]struct{}

func (f *feed) init(n *Namespace) {
	f.n, f.exact, f.ranges, f.spanning = n, map[path]watches{}, map[string]watches{}, watches{}
}

// open starts collecting events, if it has not started yet or has collected those of a virtual host
// that was deleted. Every event after open returns gets a revision.
func (f *feed) open() error {
	if f.current() {
		return nil
	}
	f.opening.Lock()
	defer f.opening.Unlock()
	switch {
	case f.closed:
		return rpctypes.ErrGRPCStopped
	case f.current():
		return nil
	}
	f.end()
	s, err := f.n.Broker.Operate(virtual.VHost)
	if err != nil {
		return err
	}
	f.stop, err = f.n.m.Watch(s, semaphores.WatchOptions{All: true}, f.happened)
	if err != nil {
		s.Close()
		return err
	}
	f.session = s
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.vhost, f.floor = true, s.VHostID(), f.n.Clock.Next()
	f.last, f.latest, f.oldest = f.floor, nil, 0
	return nil
}

// current reports whether the feed collects the events of the virtual host that exists now.
func (f *feed) current() bool {
	f.mu.Lock()
	on, vhost := f.on, f.vhost
	f.mu.Unlock()
	return on && f.n.Broker.HasVHost(vhost)
}

// close stops collecting events for good.
func (f *feed) close() {
	f.opening.Lock()
	defer f.opening.Unlock()
	f.closed = true
	f.end()
}

// end stops collecting events. The caller holds opening.
func (f *feed) end() {
	if f.stop != nil {
		f.stop()
		f.session.Close()
		f.stop = nil
	}
}

// happened receives events from the manager.
func (f *feed) happened(events []semaphores.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range events {
		h := &happening{f.n.Clock.Next(), events[i]}
		f.last = h.revision
		f.keep(h)
		f.tell(h)
	}
}

// keep stores an event. If the buffer is full, it replaces the oldest.
func (f *feed) keep(h *happening) {
	if len(f.latest) < history {
		f.latest = append(f.latest, h)
		return
	}
	f.floor = f.latest[f.oldest].revision + 1
	f.latest[f.oldest] = h
	f.oldest = (f.oldest + 1) % history
}

// tell passes an event to the watches that want it.
func (f *feed) tell(h *happening) {
	for w := range f.exact[h.path()] {
		w.add(h)
	}
	if h.Task.ID != "" {
		for w := range f.ranges[h.Key] {
			w.add(h)
		}
	}
	for w := range f.spanning {
		w.add(h)
	}
}

// enter starts a watch. No event that it gets has a revision below since.
func (f *feed) enter(w *Watch) (since int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	since = f.last + 1
	if w.from > 0 {
		since = min(since, w.from)
		f.catchUp(w)
	}
	switch {
	case !w.many:
		join(f.exact, w.path, w)
	case w.span.of != "":
		join(f.ranges, w.path.semaphore, w)
	default:
		f.spanning[w] = struct{}{}
	}
	return since
}

// catchUp passes the kept events from the start revision on to a watch.
func (f *feed) catchUp(w *Watch) {
	if w.from < f.floor || f.n.Clock.Reach(w.from) {
		w.end(&virtual.Compacted{Revision: max(f.floor, w.from)})
		return
	}
	for i := range f.latest {
		if h := f.latest[(f.oldest+i)%len(f.latest)]; w.concerns(h) {
			w.add(h)
		}
	}
}

// leave ends a watch.
func (f *feed) leave(w *Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.pending = nil
	quit(f.exact, w.path, w)
	quit(f.ranges, w.path.semaphore, w)
	delete(f.spanning, w)
}

func join[K comparable](all map[K]watches, at K, w *Watch) {
	if all[at] == nil {
		all[at] = watches{}
	}
	all[at][w] = struct{}{}
}

func quit[K comparable](all map[K]watches, at K, w *Watch) {
	delete(all[at], w)
	if len(all[at]) == 0 {
		delete(all, at)
	}
}
