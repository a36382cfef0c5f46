package wal

import (
	"encoding/binary"
	"math"

	"fiveways.dev/fiveways/internal/core/codec"
)

// RaftShard is the shard number of the frames that belong to the replicated log itself.
const RaftShard = math.MaxUint32

// RaftHead is the payload of a frame of kind raft. The frame's index and term are those of the
// entry. With the flag Continued, the entry consists of the shard frames that follow, up to the
// first without the flag, and Data is empty.
type RaftHead struct {
	Type   uint8  // Raft's number for the type of the entry
	Commit uint64 // the highest index that this replica knew to be committed when it wrote the frame
	Data   []byte // the content of an entry that is not for shards
}

// AppendRaftHead appends the payload of a frame of kind raft.
func AppendRaftHead(dst []byte, h RaftHead) []byte {
	dst = binary.AppendUvarint(append(dst, h.Type), h.Commit)
	return append(dst, h.Data...)
}

// DecodeRaftHead decodes the payload of a frame of kind raft, which Data aliases.
func DecodeRaftHead(payload []byte) (RaftHead, error) {
	r := codec.NewReader(payload)
	h := RaftHead{Type: r.Uint8(), Commit: r.Uvarint()}
	if r.Err() != nil {
		return RaftHead{}, ErrBadFrame
	}
	h.Data = r.Rest()
	return h, nil
}
