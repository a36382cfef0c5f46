package wal

import (
	"bytes"
	"errors"
	"testing"
)

func TestRaftHead(t *testing.T) {
	for _, want := range []RaftHead{{}, {Type: 2, Commit: 1 << 40, Data: []byte("change")}} {
		payload := AppendRaftHead(nil, want)
		got, err := DecodeRaftHead(payload)
		if err != nil || got.Type != want.Type || got.Commit != want.Commit || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		for cut := range len(payload) - len(want.Data) {
			if _, err := DecodeRaftHead(payload[:cut]); !errors.Is(err, ErrBadFrame) {
				t.Fatalf("%d of %d bytes: %v", cut, len(payload), err)
			}
		}
	}
}

// ScanTail keeps a mark, which is no entry. Data that a mark records as durable is no torn end.
func TestScanTailWithMarks(t *testing.T) {
	b := AppendSegmentHeader(nil, 1, goldenSalt)
	b = appendFrame(b, Header{Kind: KindRaft, Shard: RaftShard, Index: 2, Term: 9, Flags: Continued}, AppendRaftHead(nil, RaftHead{}))
	b = appendFrame(b, Header{Kind: KindFacts, Shard: 1, Index: 1, Term: 9}, []byte("\x01a"))
	entry := len(b)
	b = appendFrame(b, Header{Kind: KindMark, Shard: RaftShard, Synced: uint32(entry)}, nil)
	scan := func(b []byte) (Tail, error) { return ScanTail(bytes.NewReader(b), int64(len(b)), 1) }
	tail, err := scan(b)
	if err != nil || tail.End != int64(len(b)) || tail.Torn != 0 || len(tail.Index) != 2 || tail.Index[RaftShard].Last != 2 {
		t.Fatalf("%+v, %v", tail, err)
	}
	for at := SegmentHeaderSize; at < entry; at++ {
		damaged := bytes.Clone(b)
		damaged[at] ^= 4
		if _, err := scan(damaged); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("flip at %d: %v", at, err)
		}
		if tail, err := scan(damaged[:entry]); err != nil || tail.End != SegmentHeaderSize {
			t.Fatalf("flip at %d without a mark: %+v, %v", at, tail, err)
		}
	}
}
