package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// writeLog creates a data folder with entries of 1000 bytes and returns the path of its only
// segment.
func writeLog(t *testing.T, dir string, entries uint64) string {
	t.Helper()
	s, err := store.Open(vfs.OS{}, dir, store.Options{})
	must(t, err)
	done := make(chan error)
	for index := uint64(1); index <= entries; index++ {
		const length, start = 1000, 4 // a fact that concerns no queue, see docs/format/facts.md
		fact := append([]byte{length&0x7f | 0x80, length >> 7, start}, make([]byte, length-1)...)
		s.Append([]store.Entry{{Shard: 1, Index: index, Data: fact, Wait: store.WaitSync}}, func(err error) { done <- err })
		must(t, <-done)
	}
	must(t, s.Close())
	segments, err := filepath.Glob(filepath.Join(dir, "seg-*.log"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %q, %v", segments, err)
	}
	return segments[0]
}

func TestDoctorOnASoundFolder(t *testing.T) {
	dir := t.TempDir()
	writeLog(t, dir, 10)
	for _, args := range [][]string{{"doctor", dir}, {"doctor", dir, "--repair"}} {
		stdout, stderr, code := command(t, args...)
		if code != exitcode.OK || strings.Contains(stdout, "DAMAGE") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	if stdout, _, _ := command(t, "doctor", dir); !strings.Contains(stdout, "1:10 (1-10)") {
		t.Errorf("the entries are not counted:\n%s", stdout)
	}
}

func TestDoctorTellsOfKeys(t *testing.T) {
	dir := t.TempDir()
	keys := keyspace.New(keyspace.Options{})
	b := enginetest.OpenFolder(t, dir, func(o *broker.Options) { o.StateMachines = protocoltest.Machines(nil, keys) })
	err := keys.Start(b.StateMachine(statemachine.Keys))
	for _, key := range []string{"a", "b", "b"} {
		if err == nil {
			_, err = keys.Put(t.Context(), &pb.PutRequest{Key: []byte(key)})
		}
	}
	if err == nil {
		_, err = keys.LeaseGrant(t.Context(), &pb.LeaseGrantRequest{TTL: 600})
	}
	keys.Stop()
	enginetest.Close(t, b)
	must(t, errors.Join(err, keys.Close()))
	for range 2 { // and changes nothing
		stdout, stderr, code := command(t, "doctor", dir)
		for _, want := range []string{"keys:5 (1-5)", "\nkeys  ", "2 keys of the etcd API at revision 4, 1 leases\n"} {
			if code != exitcode.OK || !strings.Contains(stdout, want) {
				t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
			}
		}
	}
}

func TestDoctorTellsOfSemaphores(t *testing.T) {
	dir := t.TempDir()
	m := semaphores.New(semaphores.Options{})
	b := enginetest.OpenFolder(t, dir, func(o *broker.Options) { o.StateMachines = protocoltest.Machines(m, nil) })
	err := m.Start(b)
	s, errSession := b.NewSession(broker.SessionOptions{User: "guest", VHost: "/"})
	if err = errors.Join(err, errSession); err != nil {
		t.Fatal(err)
	}
	of, active := semaphores.Of{Key: "crowd"}, 1
	err = m.DoWith(s, semaphores.Group{Must: true}, &semaphores.Create{Of: of, Settings: semaphores.Settings{Active: &active}},
		&semaphores.Enqueue{Of: of, Entries: []semaphores.Entry{{Task: "a", Priority: 1}, {Task: "b", Priority: 2}}})
	s.Close()
	m.Stop()
	must(t, err)
	enginetest.Close(t, b)
	for range 2 { // and changes nothing
		stdout, stderr, code := command(t, "doctor", dir)
		for _, want := range []string{"semaphores:1 (1-1)", "semaphore.events", "\n1 semaphores with 2 tasks\n"} {
			if code != exitcode.OK || !strings.Contains(stdout, want) {
				t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
			}
		}
	}
}

func TestDoctorOnATornEnd(t *testing.T) {
	dir := t.TempDir()
	segment := writeLog(t, dir, 10)
	info, err := os.Stat(segment)
	must(t, err)
	must(t, os.Truncate(segment, info.Size()-5))
	stdout, stderr, code := command(t, "doctor", dir)
	if code != exitcode.OK || !strings.Contains(stdout, "torn end") || strings.Contains(stdout, "DAMAGE") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestDoctorFindsAndRepairsDamage(t *testing.T) {
	dir := t.TempDir()
	segment := writeLog(t, dir, 10)
	f, err := os.OpenFile(segment, os.O_RDWR, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("spoiled"), 3000); err != nil { // in the third entry; later entries show that it was durable
		t.Fatal(err)
	}
	must(t, f.Close())
	stdout, stderr, code := command(t, "doctor", dir)
	if code != exitcode.Damage || !strings.Contains(stdout, "DAMAGE") || !strings.Contains(stderr, "--repair") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	stdout, stderr, code = command(t, "doctor", dir, "--repair")
	if code != exitcode.OK || !strings.Contains(stdout, "LOST: entries 3 to 3 of shard 1") {
		t.Errorf("repair: exit code %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code = command(t, "doctor", dir); code != exitcode.OK || strings.Contains(stdout, "DAMAGE") {
		t.Errorf("after the repair: exit code %d\n%s%s", code, stdout, stderr)
	}
	if s, err := store.Open(vfs.OS{}, dir, store.Options{}); err != nil {
		t.Errorf("after the repair the broker does not start: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestDoctorOnAFolderInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(vfs.OS{}, dir, store.Options{})
	must(t, err)
	defer s.Close()
	if _, stderr, code := command(t, "doctor", dir); code != exitcode.InUse || !strings.Contains(stderr, "Stop the broker") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}
