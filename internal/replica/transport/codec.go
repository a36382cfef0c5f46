package transport

import (
	"encoding/binary"
	"errors"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
)

// ErrMalformed means that the record in a frame cannot be decoded.
var ErrMalformed = errors.New("transport: malformed message")

// The messages that make up nearly all traffic have a compact format, because protobuf costs
// several allocations and a copy of the data for each entry. All others use protobuf.
//
// A compact record is a type byte, a varint with a bit for each field that is set, those fields as
// varints, and the entries. Each entry is a varint with such bits, its fields, the length of its
// data, and the data. Fields that are not set stay unset.
const (
	hasTo = 1 << iota
	hasFrom
	hasTerm
	hasLogTerm
	hasIndex
	hasCommit
	hasVote
	hasRejectHint
	hasReject // a flag without a field: the message rejects
	hasNoReject
	hasContext
	hasEntries
)

const (
	entryTerm = 1 << iota
	entryIndex
	entryType
	entryData
)

// hot reports whether a message has the compact format.
func hot(m *pb.Message) bool {
	switch m.GetType() {
	case pb.MsgApp, pb.MsgAppResp, pb.MsgHeartbeat, pb.MsgHeartbeatResp:
		return m.Snapshot == nil && len(m.Responses) == 0
	}
	return false
}

// appendMessage appends the record of a message.
func appendMessage(dst []byte, m *pb.Message) ([]byte, error) {
	if !hot(m) {
		dst, err := proto.MarshalOptions{}.MarshalAppend(append(dst, recordProto), m)
		if err != nil {
			return dst, fmt.Errorf("transport: %w", err)
		}
		return dst, nil
	}
	dst = append(dst, recordMessage, byte(m.GetType()))
	set := uint64(0)
	numbers := [...]*uint64{m.To, m.From, m.Term, m.LogTerm, m.Index, m.Commit, m.Vote, m.RejectHint}
	for i, p := range numbers {
		if p != nil {
			set |= 1 << i
		}
	}
	switch {
	case m.Reject == nil:
	case *m.Reject:
		set |= hasReject
	default:
		set |= hasNoReject
	}
	if m.Context != nil {
		set |= hasContext
	}
	if len(m.Entries) > 0 {
		set |= hasEntries
	}
	dst = binary.AppendUvarint(dst, set)
	for _, p := range numbers {
		if p != nil {
			dst = binary.AppendUvarint(dst, *p)
		}
	}
	if m.Context != nil {
		dst = codec.AppendPrefixed(dst, m.Context)
	}
	if len(m.Entries) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(m.Entries)))
		for _, e := range m.Entries {
			dst = appendEntry(dst, e)
		}
	}
	return dst, nil
}

func appendEntry(dst []byte, e *pb.Entry) []byte {
	set := uint64(0)
	if e.Term != nil {
		set |= entryTerm
	}
	if e.Index != nil {
		set |= entryIndex
	}
	if e.Type != nil {
		set |= entryType
	}
	if e.Data != nil {
		set |= entryData
	}
	dst = binary.AppendUvarint(dst, set)
	if e.Term != nil {
		dst = binary.AppendUvarint(dst, *e.Term)
	}
	if e.Index != nil {
		dst = binary.AppendUvarint(dst, *e.Index)
	}
	if e.Type != nil {
		dst = binary.AppendUvarint(dst, uint64(*e.Type))
	}
	if e.Data != nil {
		dst = codec.AppendPrefixed(dst, e.Data)
	}
	return dst
}

// decodeMessage decodes the record of a message, without its first byte. The data of entries
// aliases record. It returns ErrMalformed.
func decodeMessage(kind byte, record []byte) (*pb.Message, error) {
	if kind == recordProto {
		m := &pb.Message{}
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(record, m); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return m, nil
	}
	r := codec.NewReader(record)
	slot := &struct {
		m       pb.Message
		typ     pb.MessageType
		numbers [8]uint64
		reject  bool
	}{}
	m := &slot.m
	slot.typ = pb.MessageType(r.Uint8())
	m.Type = &slot.typ
	set := r.Uvarint()
	for i, p := range [...]**uint64{&m.To, &m.From, &m.Term, &m.LogTerm, &m.Index, &m.Commit, &m.Vote, &m.RejectHint} {
		if set&(1<<i) != 0 {
			slot.numbers[i] = r.Uvarint()
			*p = &slot.numbers[i]
		}
	}
	if set&(hasReject|hasNoReject) != 0 {
		slot.reject = set&hasReject != 0
		m.Reject = &slot.reject
	}
	if set&hasContext != 0 {
		m.Context = r.Prefixed()
	}
	if set&hasEntries != 0 {
		m.Entries = readEntries(&r)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !hot(m) {
		return nil, fmt.Errorf("%w: type %d", ErrMalformed, slot.typ)
	}
	return m, nil
}

// minEntry is the length of the shortest entry: bits, term and index.
const minEntry = 3

func readEntries(r *codec.Reader) []*pb.Entry {
	type slot struct {
		e           pb.Entry
		term, index uint64
		typ         pb.EntryType
	}
	n := r.Count(minEntry)
	slots, entries := make([]slot, n), make([]*pb.Entry, n)
	for i := range slots {
		s := &slots[i]
		entries[i] = &s.e
		set := r.Uvarint()
		if set&entryTerm != 0 {
			s.term = r.Uvarint()
			s.e.Term = &s.term
		}
		if set&entryIndex != 0 {
			s.index = r.Uvarint()
			s.e.Index = &s.index
		}
		if set&entryType != 0 {
			s.typ = pb.EntryType(r.Uvarint())
			s.e.Type = &s.typ
		}
		if set&entryData != 0 {
			s.e.Data = r.Prefixed()
		}
	}
	return entries
}
