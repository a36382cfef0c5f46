package grpcwire

import (
	"context"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// large gives answers of 1 MiB, each with an answer slot.
type large struct {
	service
	made atomic.Int64
	slot chan struct{} // signaled when a call gets a slot; may be nil
	gate chan struct{} // a call with a slot waits for it; may be nil
}

func (s *large) UnaryCall(ctx context.Context, _ *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	if err := AwaitAnswerSlot(ctx); err != nil {
		return nil, err
	}
	if s.gate != nil {
		s.slot <- struct{}{}
		<-s.gate
	}
	s.made.Add(1)
	return &testpb.SimpleResponse{Payload: &testpb.Payload{Body: make([]byte, 1<<20)}}, nil
}

// TestAnswerSlots checks that few answers are built for a client that has 300 calls of 1 MiB each
// and reads nothing, even if the handlers are slow. Small answers still arrive, and all arrive when
// the client reads.
func TestAnswerSlots(t *testing.T) {
	const (
		calls = 300
		most  = fullAnswers>>20 + maxMaking + 1
	)
	svc := &large{slot: make(chan struct{}, calls), gate: make(chan struct{})}
	srv, addr := start(t, Options{}, svc)
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	unary := with(":path", "/grpc.testing.TestService/UnaryCall")
	for id := uint32(1); id < 2*calls; id += 2 { // all are open before the first message arrives
		r.headers(id, false, unary...)
	}
	for id := uint32(1); id < 2*calls; id += 2 {
		r.ok(r.fr.WriteData(id, true, message5(0, nil)))
	}
	settle(r)
	for range maxMaking { // the maximum starts before one of them finishes
		<-svc.slot
	}
	close(svc.gate)
	const small = 2*calls + 1
	r.headers(small, false, with()...)
	r.ok(r.fr.WriteWindowUpdate(small, 100))
	r.ok(r.fr.WriteData(small, true, message5(0, nil)))
	if got := r.transcript(small); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
	if made, queued := svc.made.Load(), srv.queued.Load(); made > most || queued > (most+1)<<20 {
		t.Errorf("%d answers were made, %d bytes wait", made, queued)
	}
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 2 << 20}))
	r.ok(r.fr.WriteWindowUpdate(0, mostWindow-firstWindow))
	for done := 0; done < calls; {
		if f, ok := r.nextFrame().(*http2.HeadersFrame); ok && f.StreamEnded() {
			done++
		}
	}
	if made := svc.made.Load(); made != calls {
		t.Errorf("%d answers were made of %d", made, calls)
	}
	r.nc.Close()
	nothingHeld(t, srv)
}

// TestTurnsOfAll checks that when answers wait for all clients, each connection gets one more.
func TestTurnsOfAll(t *testing.T) {
	svc := &large{}
	srv, addr := start(t, Options{MaxQueuedBytes: 1 << 20}, svc)
	unary := with(":path", "/grpc.testing.TestService/UnaryCall")
	for n := range 3 {
		r := dialRaw(t, addr, true)
		r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
		r.headers(1, false, unary...)
		r.ok(r.fr.WriteData(1, true, message5(0, nil)))
		for {
			if f, ok := r.nextFrame().(*http2.HeadersFrame); ok && f.StreamID == 1 {
				break // the answer is built
			}
		}
		for id := uint32(3); id < 20; id += 2 {
			r.headers(id, false, unary...)
			r.ok(r.fr.WriteData(id, true, message5(0, nil)))
		}
		settle(r)
		most := int64(n + 2) // the first connection may have had two: nothing waited yet
		if made, queued := svc.made.Load(), srv.queued.Load(); made > most || queued > most*(1<<20+100) {
			t.Errorf("%d connections: %d answers were made, %d bytes wait", n+1, made, queued)
		}
	}
}
