package transport

import (
	"bytes"
	"errors"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// anyMessage draws a message of any type, with any of its fields set.
func anyMessage(t *rapid.T) *pb.Message {
	number := func(name string) *uint64 {
		return rapid.Ptr(rapid.Uint64(), true).Draw(t, name)
	}
	types := []pb.MessageType{
		pb.MsgApp, pb.MsgAppResp, pb.MsgHeartbeat, pb.MsgHeartbeatResp, pb.MsgVote, pb.MsgPreVoteResp, pb.MsgSnap, pb.MsgTimeoutNow,
		pb.MsgReadIndex,
	}
	m := &pb.Message{
		Type: rapid.SampledFrom(types).Draw(t, "type").Enum(),
		To:   number("to"), From: number("from"), Term: number("term"), LogTerm: number("logTerm"), Index: number("index"),
		Commit: number("commit"), Vote: number("vote"), RejectHint: number("hint"),
		Reject: rapid.Ptr(rapid.Bool(), true).Draw(t, "reject"),
	}
	if rapid.Bool().Draw(t, "has context") {
		m.Context = rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "context")
	}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		term, index := rapid.Uint64().Draw(t, "entry term"), rapid.Uint64().Draw(t, "entry index")
		e := &pb.Entry{Term: &term, Index: &index}
		if rapid.Bool().Draw(t, "has type") {
			e.Type = rapid.SampledFrom([]pb.EntryType{pb.EntryNormal, pb.EntryConfChangeV2}).Draw(t, "entry type").Enum()
		}
		if rapid.Bool().Draw(t, "has data") {
			e.Data = rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "data")
		}
		m.Entries = append(m.Entries, e)
	}
	if m.GetType() == pb.MsgSnap {
		m.Snapshot = &pb.Snapshot{Data: []byte("x"), Metadata: &pb.SnapshotMetadata{Index: number("snapshot")}}
	}
	return m
}

// TestMessages: decoding restores the encoded message, including which fields are set.
func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		record, err := appendMessage(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		if want := byte(recordProto); hot(m) == (record[0] == want) {
			t.Fatalf("%s has record %d", m.GetType(), record[0])
		}
		got, err := decodeMessage(record[0], record[1:])
		if err != nil || !proto.Equal(got, m) {
			t.Fatalf("got %v, %v\nwant %v", got, err, m)
		}
	})
}

// TestTruncated: a truncated record is never decoded as a complete one.
func TestTruncated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		if !hot(m) {
			return // protobuf does not know where a message ends
		}
		record, _ := appendMessage(nil, m)
		at := rapid.IntRange(1, len(record)-1).Draw(t, "at")
		if got, err := decodeMessage(record[0], record[1:at]); !errors.Is(err, ErrMalformed) {
			t.Fatalf("%d of %d bytes: %v, %v", at, len(record), got, err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	one := uint64(1)
	for _, m := range []*pb.Message{
		{Type: pb.MsgApp.Enum(), To: &one, Entries: []*pb.Entry{{Term: &one, Index: &one, Data: []byte("data")}}},
		{Type: pb.MsgHeartbeatResp.Enum(), Context: []byte("c")},
		{Type: pb.MsgVote.Enum(), Term: &one},
	} {
		record, err := appendMessage(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if len(record) == 0 {
			return
		}
		m, err := decodeMessage(record[0], record[1:])
		if err != nil {
			return
		}
		again, err := appendMessage(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeMessage(again[0], again[1:])
		if err != nil || !proto.Equal(got, m) {
			t.Fatalf("got %v, %v\nwant %v", got, err, m)
		}
	})
}

func FuzzFrame(f *testing.F) {
	frame := append(beginFrame(nil), "payload"...)
	endFrame(frame, 0)
	f.Add(frame)
	f.Fuzz(func(t *testing.T, b []byte) {
		payload, err := readFrame(bytes.NewReader(b), maxHello)
		if err != nil {
			return
		}
		again := append(beginFrame(nil), payload...)
		endFrame(again, 0)
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%x of %x", again, b)
		}
	})
}

// TestLargeFrame: a frame longer than the first read buffer arrives complete.
func TestLargeFrame(t *testing.T) {
	for _, n := range []int{0, firstRead - 1, firstRead, firstRead + 1, 9*firstRead + 7, 3 << 20} {
		want := bytes.Repeat([]byte{7}, n)
		frame := append(beginFrame(nil), want...)
		endFrame(frame, 0)
		got, err := readFrame(bytes.NewReader(frame), maxFrame)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		if n > 0 {
			frame[frameHeader+n/2] ^= 1
			if _, err := readFrame(bytes.NewReader(frame), maxFrame); !errors.Is(err, ErrChecksum) {
				t.Errorf("%d bytes, one bit differs: %v", n, err)
			}
		}
	}
}
