package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// identityDir is the folder of a node's certificate, in its data folder.
const identityDir = "cluster"

// ErrNotEmpty says that a node cannot join a cluster with what its data folder has.
var ErrNotEmpty = errors.New("cluster: a node joins with an empty data folder; this one has data")

// first is the number of the node that a cluster begins with.
const first = 1

// Init makes a data folder, which may be empty, that of the first node of a new cluster. The other
// nodes will reach it at address. Nothing in it is written again. Errors: store.ErrReplica, those
// of the file system.
func Init(dir, address string) (id uint64, err error) {
	if err := forget(dir); err != nil {
		return 0, err
	}
	if id, err = foundIdentity(dir); err != nil {
		return 0, err
	}
	if err := store.FoundReplica(vfs.OS{}, dir, replica.Founding(id, first, address)); err != nil {
		return 0, errors.Join(err, forget(dir))
	}
	return id, nil
}

// foundIdentity makes the identity of the first node of a new cluster, in the place of any other.
func foundIdentity(dir string) (id uint64, err error) {
	if err := os.RemoveAll(filepath.Join(dir, identityDir)); err != nil {
		return 0, err
	}
	id = rand.Uint64()
	if err := admission.Found(filepath.Join(dir, identityDir), id, first, time.Now()); err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	return id, nil
}

// Join makes an empty data folder that of a new node of a cluster, which admits it with a token or
// with one of several, apart by white space. A folder that is a node's is left as it is. After a
// failure it may be called again: if the cluster has made the folder's node a member already, it is
// still that one. Errors: ErrNotEmpty, those of admission.Join.
func Join(ctx context.Context, dir, tokens, address string) error {
	is, err := store.LookInto(vfs.OS{}, dir)
	switch {
	case err != nil || is.Replica:
		return err
	case !is.Empty:
		return fmt.Errorf("%w: %s", ErrNotEmpty, dir)
	}
	identity := filepath.Join(dir, identityDir)
	w, err := joinWithAny(ctx, tokens, address, identity)
	if err != nil {
		return err
	}
	if err := store.FoundReplica(vfs.OS{}, dir, replica.Joining(w.Cluster, w.Node, w.Addresses)); err != nil {
		return err
	}
	return admission.Joined(identity)
}

// divergedFile is in the folder of a node whose state was not the leader's. It says why.
const divergedFile = "diverged"

// ErrDiverged says that a node cannot start because its state was not the leader's.
var ErrDiverged = errors.New("cluster: this node has stopped because its state was not that of the leader. Replace it: have a new node join with an empty data folder, and remove this one. " +
	"When several nodes have stopped so, the one that led is wrong: stop it, and remove this file from the others")

// markDiverged keeps a node from starting again.
func markDiverged(dir string, why error) error {
	return os.WriteFile(filepath.Join(dir, identityDir, divergedFile), []byte(why.Error()+"\n"), 0o600)
}

// checkDiverged finds a folder that is marked. Errors: ErrDiverged.
func checkDiverged(dir string) error {
	path := filepath.Join(dir, identityDir, divergedFile)
	why, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w (%s): %s", ErrDiverged, path, bytes.TrimSpace(why))
}

// checkLevel finds the folder of a node whose log is at a level that this version does not support,
// before anything of it is opened. Errors: level.ErrUnsupported, those of store.LookInto.
func checkLevel(fsys vfs.FS, dir string) error {
	is, err := store.LookInto(fsys, dir)
	if err == nil && is.Replica {
		err = replica.CheckLevel(is.Members)
	}
	return err
}

// joinWithAny joins with the first token of several that admits this node: others may be used.
func joinWithAny(ctx context.Context, tokens, address, identity string) (w admission.Welcome, err error) {
	err = admission.ErrToken // there may be none
	for _, token := range strings.Fields(tokens) {
		w, err = admission.Join(ctx, token, address, identity)
		if !errors.Is(err, admission.ErrRefused) && !errors.Is(err, admission.ErrExpired) {
			break
		}
	}
	return w, err
}

// forget removes what an attempt to join or to found a cluster has left that did not come to its
// end.
func forget(dir string) error {
	is, err := store.LookInto(vfs.OS{}, dir)
	if err != nil {
		return err
	}
	if is.Replica {
		return fmt.Errorf("%w: %s", store.ErrReplica, dir)
	}
	return os.RemoveAll(filepath.Join(dir, identityDir))
}
