package cluster

import (
	"errors"
	"fmt"
	"path/filepath"

	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// ErrNothing means that a node has no data with which a cluster could begin.
var ErrNothing = errors.New("cluster: the node has got nothing from its cluster yet")

// ErrWrongState means that no cluster should begin with a node's data, because its state differed
// from the leader's.
var ErrWrongState = errors.New("cluster: the state of this node is not to be relied on, because it was not that of the leader")

// Remains describes the data folder of a stopped node.
type Remains struct {
	Cluster, Node uint64
	Last          store.EntryID // of its log
	Committed     uint64        // the last entry known to be committed
	Diverged      string        // how its state differed from the leader's; "": not that it knows
	replica.Members
}

// Examine reads the data folder of a stopped node. It changes nothing but the lock file. Errors:
// ErrNotMember, vfs.ErrLocked, those of replica.MembersOf and store.Open.
func Examine(dir string) (r Remains, err error) {
	st, err := store.OpenReadOnly(vfs.OS{}, dir, store.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return remains(st, dir)
}

func remains(st *store.Store, dir string) (r Remains, err error) {
	log := st.Raft()
	if log == nil {
		return r, fmt.Errorf("%w: %s", ErrNotMember, dir)
	}
	state := log.State()
	r = Remains{Cluster: state.Cluster, Node: state.Node, Last: log.Last(), Committed: log.Committed()}
	if r.Diverged, err = divergence(dir); err != nil {
		return r, err
	}
	r.Members, err = replica.MembersOf(log)
	return r, err
}

// Recover turns the data folder of a stopped node into the folder of the first node of a new
// cluster that has all data of this node. It is for a cluster that has lost a majority of its
// voters. Other nodes will reach the node at address. After a crash during Recover, call it again.
// Errors: those of Examine, ErrNothing, ErrWrongState, those of the file system.
func Recover(dir, address string) (id uint64, err error) {
	st, err := store.Open(vfs.OS{}, dir, store.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r, err := remains(st, dir)
	if err != nil {
		return 0, err
	}
	switch {
	case r.Last.Index == 0:
		return 0, fmt.Errorf("%w: %s", ErrNothing, dir)
	case r.Diverged != "":
		return 0, fmt.Errorf("%w (%s): %s", ErrWrongState, filepath.Join(dir, identityDir, divergedFile), r.Diverged)
	}
	if id, err = foundIdentity(dir); err != nil {
		return 0, err
	}
	return id, st.Raft().Refound(replica.Founding(id, first, address))
}
