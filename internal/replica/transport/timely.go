package transport

import (
	"encoding/binary"
	"fmt"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
)

// pinged is the last ping from a peer.
type pinged struct {
	sent uint64        // the peer's time, from the ping
	at   time.Duration // when it arrived, by this node's clock
}

// appendTimely appends the record of a message that must not be late: the peer's time from its last
// ping, and how long ago that ping arrived. From these the peer computes the greatest age of the
// message by its own clock alone. ok is false if no ping has arrived yet.
func (l *link) appendTimely(dst []byte, m *pb.Message) (_ []byte, ok bool, err error) {
	p := l.to.pinged.Load()
	if p == nil {
		return dst, false, nil
	}
	dst = codec.AppendUvarints(append(dst, recordTimely), p.sent, uint64(l.t.elapsed()-p.at))
	dst, err = appendMessage(dst, m)
	return dst, true, err
}

// decodeTimely returns the message in such a record and its greatest age.
func (t *Transport) decodeTimely(record []byte) (m *pb.Message, age time.Duration, err error) {
	sent, n := binary.Uvarint(record)
	held, k := binary.Uvarint(record[max(n, 0):])
	if n <= 0 || k <= 0 || n+k == len(record) || sent > uint64(t.elapsed()) {
		return nil, 0, ErrMalformed
	}
	age = t.elapsed() - time.Duration(sent) - time.Duration(held)
	kind := record[n+k]
	if kind != recordMessage && kind != recordProto || age < 0 {
		return nil, 0, fmt.Errorf("%w: record %d, %v old", ErrMalformed, kind, age)
	}
	m, err = decodeMessage(kind, record[n+k+1:])
	return m, age, err
}
