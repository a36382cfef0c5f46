package duel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// stream is a watch stream with what it has received so far.
type stream struct {
	pb.Watch_WatchClient
	cancel context.CancelFunc
	base   int64
	gone   chan struct{} // closed when nothing more comes

	mu       sync.Mutex
	told     map[int64][]string // events by watch id, in order; how they were grouped into messages is ignored
	live     map[int64]bool     // created and not canceled
	controls int                // created, canceled, progress
	changed  chan struct{}      // closed and replaced when something arrives
}

// controlPatience is the timeout of the answer to a request on a stream.
const controlPatience = 3 * time.Second

// onStream sends a message on a stream, opens it or closes it.
func (p *Peer) onStream(c *client, s Step) string {
	if s.Rest == "end" {
		p.end(s.Verb)
		return ""
	}
	request, err := s.request(p.base)
	if err != nil {
		return err.Error()
	}
	w := p.streams[s.Verb]
	if w == nil {
		if w, err = c.open(p.base); err != nil {
			return refusal(err)
		}
		p.streams[s.Verb] = w
	}
	return w.ask(request.(*pb.WatchRequest))
}

func (c *client) open(base int64) (*stream, error) {
	ctx, stop := c.context() // only for the token: a stream lives longer than its timeout
	stop()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &stream{cancel: cancel, base: base, gone: make(chan struct{}), told: map[int64][]string{}, live: map[int64]bool{}, changed: make(chan struct{})}
	var err error
	if w.Watch_WatchClient, err = pb.NewWatchClient(c.conn).Watch(ctx); err != nil {
		cancel()
		return nil, err
	}
	go w.receive()
	return w, nil
}

// ask sends a request and waits for its answer, if there will be one.
func (w *stream) ask(request *pb.WatchRequest) string {
	w.mu.Lock()
	before := w.controls
	answered := true
	if c := request.GetCancelRequest(); c != nil {
		answered = w.live[c.WatchId]
	}
	w.mu.Unlock()
	if err := w.Send(request); err != nil {
		return "" // the error that ended the stream is part of what it received
	}
	if answered {
		w.await(controlPatience, func() bool { return w.controls > before })
	}
	return ""
}

// await waits until holds returns true. It calls holds with the lock held.
func (w *stream) await(patience time.Duration, holds func() bool) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		w.mu.Lock()
		done, changed := holds(), w.changed
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-w.gone:
			return
		case <-timeout.C:
			return
		}
	}
}

func (w *stream) receive() {
	defer close(w.gone)
	for {
		m, err := w.Recv()
		if err != nil {
			w.tell(-2, refusal(err))
			return
		}
		w.note(m)
	}
}

// note records the contents of a message.
func (w *stream) note(m *pb.WatchResponse) {
	for _, e := range m.Events {
		if e.Kv.ModRevision > m.Header.Revision {
			w.tell(m.WatchId, fmt.Sprintf("the header has revision @%d, before that of its event", m.Header.Revision-w.base))
		}
		w.tell(m.WatchId, Text(e, w.base))
	}
	if len(m.Events) > 0 && !m.Canceled {
		return
	}
	control := proto.CloneOf(m)
	control.Events = nil
	if m.Canceled && m.CompactRevision == 0 || !m.Created && !m.Canceled {
		control.Header = nil // this answer may come at once or after earlier events
	}
	w.tell(m.WatchId, Text(control, w.base))
	w.mu.Lock()
	w.live[m.WatchId] = m.Created && !m.Canceled
	w.controls++
	w.mu.Unlock()
	w.wake()
}

func (w *stream) tell(id int64, line string) {
	w.mu.Lock()
	w.told[id] = append(w.told[id], line)
	w.mu.Unlock()
	w.wake()
}

func (w *stream) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// sentinel is the id of the watch that shows that all watches have caught up.
const sentinel = 1 << 40

// catchUp waits until all streams have received everything that happened. A watch that begins in
// the past is served together with, or after, all other watches that have not caught up yet, so its
// event is the last.
func (p *Peer) catchUp() {
	if len(p.streams) == 0 {
		return
	}
	c, err := p.client(1)
	if err != nil {
		return
	}
	ctx, cancel := c.context()
	defer cancel()
	mark, err := pb.NewKVClient(c.conn).Put(ctx, &pb.PutRequest{Key: []byte("~")})
	if err != nil {
		return // no user may put it; the events are compared all the same
	}
	p.told = max(p.told, mark.Header.Revision)
	var streams sync.WaitGroup
	for _, w := range p.streams {
		streams.Go(func() { w.passMark(mark.Header.Revision) })
	}
	streams.Wait()
}

// passMark opens the sentinel watch and waits until it is closed again.
func (w *stream) passMark(at int64) {
	w.mu.Lock()
	delete(w.told, sentinel)
	w.mu.Unlock()
	create := &pb.WatchCreateRequest{Key: []byte("~"), StartRevision: at, WatchId: sentinel}
	if w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}) != nil {
		return
	}
	w.await(controlPatience, func() bool { return len(w.told[sentinel]) == 2 }) // created, and the event
	end := &pb.WatchCancelRequest{WatchId: sentinel}
	if w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: end}}) != nil {
		return
	}
	w.await(controlPatience, func() bool { return !w.live[sentinel] })
}

// end closes a stream. What it has received is not compared.
func (p *Peer) end(name string) {
	if w := p.streams[name]; w != nil {
		w.cancel()
		<-w.gone
		delete(p.streams, name)
	}
}

// text returns everything that the stream has received.
func (w *stream) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(w.told)) {
		if id == sentinel {
			continue
		}
		fmt.Fprintf(&b, "  watch %d\n    %s\n", id, strings.Join(w.told[id], "\n    "))
	}
	return b.String()
}
