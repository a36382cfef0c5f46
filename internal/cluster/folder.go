package cluster

import (
	"bytes"
	"cmp"
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

// identityDir is the folder of the node's certificate within its data folder.
const identityDir = "cluster"

// ErrNotEmpty means that a node cannot join a cluster because its data folder holds data.
var ErrNotEmpty = errors.New("cluster: a node joins with an empty data folder; this one has data")

// first is the number of the first node of a cluster.
const first = 1

// Init turns a data folder, which may be empty, into the folder of the first node of a new cluster.
// The other nodes will reach it at address. Existing data is not rewritten. Errors:
// store.ErrReplica, those of the file system.
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

// foundIdentity creates the identity of the first node of a new cluster, and replaces any existing
// one.
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

// Join turns an empty data folder into the folder of a new node of a cluster, which admits it with
// a token. tokens may hold several, separated by white space. The folder of an existing node is
// left unchanged. After a failure Join may be called again: if the cluster has already made the
// folder's node a member, it stays the same member. Errors: ErrNotEmpty, those of admission.Join.
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

// divergedFile is in the folder of a node whose state differed from the leader's. It holds the
// reason.
const divergedFile = "diverged"

// ErrDiverged means that a node cannot start because its state differed from the leader's.
var ErrDiverged = errors.New("cluster: this node has stopped because its state was not that of the leader. Replace it: have a new node join with an empty data folder, and remove this one. " +
	"When several nodes have stopped so, the one that led is wrong: stop it, and remove this file from the others")

// markDiverged prevents the node from starting again.
func markDiverged(dir string, why error) error {
	return os.WriteFile(filepath.Join(dir, identityDir, divergedFile), []byte(why.Error()+"\n"), 0o600)
}

// checkDiverged fails if the folder is marked as diverged. Errors: ErrDiverged.
func checkDiverged(dir string) error {
	why, err := divergence(dir)
	if err == nil && why != "" {
		err = fmt.Errorf("%w (%s): %s", ErrDiverged, filepath.Join(dir, identityDir, divergedFile), why)
	}
	return err
}

// divergence returns the reason for which the folder is marked as diverged, or "" if it is not.
func divergence(dir string) (why string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, identityDir, divergedFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return cmp.Or(string(bytes.TrimSpace(text)), "the reason is not known"), nil // empty after a crash
}

// checkLevel fails if the node's log is at a level that this version does not support. It is called
// before the store is opened. Errors: level.ErrUnsupported, those of store.LookInto.
func checkLevel(fsys vfs.FS, dir string) error {
	is, err := store.LookInto(fsys, dir)
	if err == nil && is.Replica {
		err = replica.CheckLevel(is.Members)
	}
	return err
}

// joinWithAny joins with the first of several tokens that admits this node, since some may have
// been used.
func joinWithAny(ctx context.Context, tokens, address, identity string) (w admission.Welcome, err error) {
	err = admission.ErrToken // if there is no token
	for _, token := range strings.Fields(tokens) {
		w, err = admission.Join(ctx, token, address, identity)
		if !errors.Is(err, admission.ErrRefused) && !errors.Is(err, admission.ErrExpired) {
			break
		}
	}
	return w, err
}

// forget removes the remains of an incomplete attempt to join or to found a cluster.
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
