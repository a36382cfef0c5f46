package transport

import (
	"encoding/binary"
	"fmt"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
)

// TimelyWithin is the age from which on a message that is Timely is dropped.
const TimelyWithin = time.Second

// campaignTransfer is the context of a vote that a node asks for because the leader has told it to
// stand for election. The library does not export it.
const campaignTransfer = "CampaignTransfer"

// Timely reports whether a message must not arrive late: it lets a node be elected while another
// one's lease may run. A leader that gives its lead away has no lease for some time; what still
// was on the way after that would break it.
func Timely(m *pb.Message) bool {
	return m.GetType() == pb.MsgTimeoutNow || m.GetType() == pb.MsgVote && string(m.GetContext()) == campaignTransfer
}

// pinged is the last ping of a peer.
type pinged struct {
	sent uint64        // the peer's time, as the ping had it
	at   time.Duration // when it came, by this node's
}

// appendTimely appends the record of a message that is Timely: the peer's time by its last ping,
// and how long ago that came. From that the peer knows how old the message is at most, without
// another clock than its own. false when no ping has come yet.
func (l *link) appendTimely(dst []byte, m *pb.Message) (_ []byte, ok bool, err error) {
	p := l.to.pinged.Load()
	if p == nil {
		return dst, false, nil
	}
	dst = codec.AppendUvarints(append(dst, recordTimely), p.sent, uint64(l.t.elapsed()-p.at))
	dst, err = appendMessage(dst, m)
	return dst, true, err
}

// decodeTimely returns the message of such a record and its greatest age.
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
