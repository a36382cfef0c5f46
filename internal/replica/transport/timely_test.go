package transport

import (
	"errors"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
)

// TestTimely: an order to stand for election arrives once the peer has pinged.
func TestTimely(t *testing.T) {
	a, b := two(t, nil)
	for arrived := false; !arrived; {
		a.Send([]*pb.Message{from1(pb.MsgTimeoutNow, 1)})
		select {
		case m := <-b.got:
			arrived = m.GetType() == pb.MsgTimeoutNow && m.GetIndex() == 1
		case <-time.After(time.Millisecond): // b has not pinged yet
		}
	}
}

// TestTooLate: a message that is too old by the receiver's clock is dropped.
func TestTooLate(t *testing.T) {
	by := newAuthority(t)
	n := listen(t, by, 1, "127.0.0.1:0", nil)
	n.start = n.start.Add(-time.Minute) // no goroutine uses it yet
	n.SetPeers(map[uint64]string{2: "127.0.0.1:1"}, 9)
	h := hello{cluster: cluster, from: 2, to: 1, clock: time.Now().UnixNano()}
	conn, err := raw(t, n, identity(t, by, by, cluster, 2), h.append(nil))
	if err != nil {
		t.Fatal(err)
	}
	send := func(index uint64, sent, held time.Duration) {
		t.Helper()
		m := from1(pb.MsgVote, index)
		*m.From, *m.To = 2, 1
		m.Context = []byte("CampaignTransfer")
		frame := codec.AppendUvarints(append(beginFrame(nil), recordTimely), uint64(sent), uint64(held))
		frame, err := appendMessage(frame, m)
		if err != nil {
			t.Fatal(err)
		}
		endFrame(frame, 0)
		if _, err := conn.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	now := n.elapsed()
	send(1, now-5*time.Second, 3*time.Second)
	send(2, now-5*time.Second, 5*time.Second)
	if m := n.next(); m.GetIndex() != 2 {
		t.Errorf("got %v", m)
	}
	n.log.await(t, "came too late")
}

// FuzzTimely: no record causes a panic, and an age is never negative.
func FuzzTimely(f *testing.F) {
	tr := New(Options{})
	tr.start = tr.start.Add(-time.Hour)
	m, err := appendMessage(codec.AppendUvarints(nil, uint64(time.Minute), uint64(time.Second)), from1(pb.MsgTimeoutNow, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m)
	f.Add([]byte{})
	f.Add([]byte{1, 1})
	f.Fuzz(func(t *testing.T, record []byte) {
		m, age, err := tr.decodeTimely(record)
		if err == nil && (m == nil || age < 0) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%v, %v, %v", m, age, err)
		}
	})
}
