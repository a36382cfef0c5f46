package transport

import (
	"encoding/binary"
	"fmt"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
)

// TimelyWithin is the age at which a Timely message is dropped.
const TimelyWithin = time.Second

// campaignTransfer is the context of the vote requests of a node that the leader has told to stand
// for election. The library does not export it.
const campaignTransfer = "CampaignTransfer"

// Timely reports whether a message must not arrive late, because it can get a node elected during
// another node's lease. A leader that transfers its leadership suspends its lease only for some
// time. A message that arrives later would break the next lease.
func Timely(m *pb.Message) bool {
	return m.GetType() == pb.MsgTimeoutNow || m.GetType() == pb.MsgVote && string(m.GetContext()) == campaignTransfer
}

// pinged is the last ping from a peer.
type pinged struct {
	sent uint64        // the peer's time, from the ping
	at   time.Duration // when it arrived, by this node's clock
}

// appendTimely appends the record of a Timely message: the peer's time from its last ping, and how
// long ago that ping arrived. From these the peer computes the greatest age of the message by its
// own clock alone. ok is false if no ping has arrived yet.
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
