package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// RaftState is what a replica must keep durable besides the entries of its log.
type RaftState struct {
	Cluster uint64 // the cluster it belongs to
	Node    uint64 // its node number, never reused in a cluster

	Term uint64 // the latest it has seen
	Vote uint64 // the node that it voted for in Term; 0 for none
	// Commit is an index known to be committed. The log may know of a higher one.
	Commit uint64

	// First is the last entry that the log may lack, because the checkpoints cover it.
	First EntryID

	// Members is the encoded membership of the cluster after the entry MembersAt.
	Members   []byte
	MembersAt uint64
}

// EntryID identifies an entry of the replicated log: two logs that hold it are identical up to it.
type EntryID struct{ Index, Term uint64 }

// The file of the state, see docs/format/log.md.
const (
	raftFile      = "raft"
	raftMagic     = "5WAYSRFT"
	raftVersion   = 1
	raftFixed     = 12 + 8*8 + 4 // bytes before Members
	raftSumSize   = 4
	maxRaftBytes  = 1 << 20
	raftNumbersAt = 12
)

// ErrReplica means that a directory belongs to a cluster node, for which the operation is not
// allowed.
var ErrReplica = errors.New("store: the folder belongs to a node of a cluster")

func (st *RaftState) numbers() []*uint64 {
	return []*uint64{&st.Cluster, &st.Node, &st.Term, &st.Vote, &st.Commit, &st.First.Index, &st.First.Term, &st.MembersAt}
}

func (st *RaftState) encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(raftMagic), raftVersion)
	for _, n := range st.numbers() {
		b = le.AppendUint64(b, *n)
	}
	b = le.AppendUint32(b, uint32(len(st.Members)))
	b = append(b, st.Members...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeRaftState(b []byte) (st RaftState, err error) {
	le := binary.LittleEndian
	if len(b) < raftFixed+raftSumSize || string(b[:len(raftMagic)]) != raftMagic {
		return st, fmt.Errorf("%w: no state of a replica", ErrCorrupt)
	}
	body := b[:len(b)-raftSumSize]
	if le.Uint32(b[len(body):]) != crc32.Checksum(body, castagnoli) {
		return st, fmt.Errorf("%w: the state of the replica does not match its sum", ErrCorrupt)
	}
	if v := le.Uint32(b[len(raftMagic):]); v != raftVersion {
		return st, fmt.Errorf("%w: version %d of the state of a replica", ErrUnsupportedFormat, v)
	}
	for i, n := range st.numbers() {
		*n = le.Uint64(b[raftNumbersAt+8*i:])
	}
	st.Members = body[raftFixed:]
	if uint64(le.Uint32(b[raftFixed-4:])) != uint64(len(st.Members)) {
		return st, fmt.Errorf("%w: the state of the replica has another length", ErrCorrupt)
	}
	return st, nil
}

// writeRaftState replaces the durable state: after a crash it is the old one or st.
func writeRaftState(fsys vfs.FS, dir string, st *RaftState) error {
	return writeSmallFile(fsys, dir, raftFile, st.encode())
}

// readRaftState returns nil in the directory of a single node.
func readRaftState(fsys vfs.FS, dir string) (*RaftState, error) {
	b, err := readSmallFile(fsys, dir, raftFile, maxRaftBytes)
	if b == nil || err != nil {
		return nil, err
	}
	st, err := decodeRaftState(b)
	if err != nil {
		return nil, inFile(raftFile, err)
	}
	return &st, nil
}

// FoundReplica turns a single node's directory, or an empty one, into that of a cluster node with
// the state st. It writes nothing to the log: existing entries count as committed before st.First,
// whose index is at least 1 unless the directory is empty. The store must not be open.
func FoundReplica(fsys vfs.FS, dir string, st RaftState) error {
	if err := fsys.MkdirAll(dir); err != nil {
		return inFile(dir, err)
	}
	lock, err := fsys.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return inFile(dir, err)
	}
	defer lock.Close()
	live, err := liveDir(fsys, dir)
	if err != nil {
		return err
	}
	old, err := readRaftState(fsys, live)
	if err != nil {
		return err
	}
	if old != nil {
		return fmt.Errorf("%w: node %x of cluster %x", ErrReplica, old.Node, old.Cluster)
	}
	if st.Node == 0 || st.Commit < st.First.Index || st.Term < st.First.Term || len(st.Members) > math.MaxUint16 {
		return fmt.Errorf("store: found a replica: node %x with entries committed to %d of term %d: not a valid state", st.Node, st.Commit, st.Term)
	}
	return writeRaftState(fsys, live, &st)
}

// Folder describes a data directory.
type Folder struct {
	Replica bool   // it belongs to a cluster node
	Members []byte // its RaftState.Members
	Empty   bool   // neither a log nor a checkpoint
}

// LookInto describes a directory that may be missing or in use. It returns ErrCorrupt,
// ErrUnsupportedFormat or an error of the file system.
func LookInto(fsys vfs.FS, dir string) (f Folder, err error) {
	if _, err := fsys.List(dir); errors.Is(err, fs.ErrNotExist) {
		return Folder{Empty: true}, nil
	}
	live, err := liveDir(fsys, dir)
	if err != nil {
		return f, err
	}
	state, err := readRaftState(fsys, live)
	if err != nil {
		return f, err
	}
	if state != nil {
		f.Replica, f.Members = true, state.Members
	}
	l, err := readLayout(fsys, live)
	f.Empty = len(l.segments)+len(l.checkpoints) == 0
	return f, err
}
