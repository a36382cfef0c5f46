package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestRecover(t *testing.T) {
	dir := t.TempDir()
	old, err := Init(dir, "n1:5680")
	enginetest.Must(t, err)
	r, err := Examine(dir)
	enginetest.Must(t, err)
	if r.Cluster != old || r.Node != 1 || r.Last != (store.EntryID{Index: 1, Term: 1}) || r.Committed != 1 || r.Addresses[1] != "n1:5680" {
		t.Errorf("%+v", r)
	}
	id, err := Recover(dir, "n9:5680")
	enginetest.Must(t, err)
	r, err = Examine(dir)
	enginetest.Must(t, err)
	if id == old || r.Cluster != id || r.Node != 1 || len(r.Voters) != 1 || r.Addresses[1] != "n9:5680" {
		t.Errorf("%x after %x: %+v", id, old, r)
	}
	if _, err := admission.Load(filepath.Join(dir, identityDir), id, 1); err != nil {
		t.Error(err)
	}
}

// TestNotRecovered checks that only the folder of a stopped node with data can become the folder of
// a new cluster.
func TestNotRecovered(t *testing.T) {
	alone, newcomer, running := t.TempDir(), t.TempDir(), t.TempDir()
	st, err := store.Open(vfs.OS{}, alone, store.Options{Logger: quiet})
	enginetest.Must(t, err)
	enginetest.Must(t, st.Close())
	enginetest.Must(t, store.FoundReplica(vfs.OS{}, newcomer, replica.Joining(1, 2, map[uint64]string{1: "n1:5680"})))
	_, err = Init(running, "n1:5680")
	enginetest.Must(t, err)
	st, err = store.Open(vfs.OS{}, running, store.Options{Logger: quiet})
	enginetest.Must(t, err)
	defer st.Close()
	for dir, want := range map[string]error{alone: ErrNotMember, newcomer: ErrNothing, running: vfs.ErrLocked} {
		was, err := store.LookInto(vfs.OS{}, dir)
		enginetest.Must(t, err)
		if _, err := Recover(dir, "n1:5680"); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
		if is, err := store.LookInto(vfs.OS{}, dir); err != nil || is.Replica != was.Replica {
			t.Errorf("%+v is %+v now, %v", was, is, err)
		}
	}
}

// TestDivergedNotRecovered checks that no cluster begins with a state that is known to be wrong,
// until an operator has removed the mark.
func TestDivergedNotRecovered(t *testing.T) {
	for name, why := range map[string]string{"with a reason": "part 2 differs", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			old, err := Init(dir, "n1:5680")
			enginetest.Must(t, err)
			enginetest.Must(t, markDiverged(dir, errors.New(why)))
			if r, err := Examine(dir); err != nil || r.Diverged == "" || !strings.Contains(r.Diverged, why) {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := Recover(dir, "n1:5680"); !errors.Is(err, ErrWrongState) || !strings.Contains(err.Error(), why) {
				t.Errorf("recovered: %v", err)
			}
			r, err := Examine(dir)
			enginetest.Must(t, err)
			if r.Cluster != old || r.Diverged == "" {
				t.Errorf("the refusal left %+v", r)
			}
			enginetest.Must(t, os.Remove(filepath.Join(dir, identityDir, divergedFile)))
			if _, err := Recover(dir, "n1:5680"); err != nil {
				t.Errorf("without the mark: %v", err)
			}
		})
	}
}
