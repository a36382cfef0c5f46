package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestFiles checks that an identity is private, persistent, valid only for its node, and never
// overwritten.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	if err := Found(dir, cluster, 1, noon); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, identityFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Load(dir, cluster, 1); err != nil {
		t.Error(err)
	}
	if _, err := Load(dir, cluster, 2); !errors.Is(err, ErrIdentity) {
		t.Errorf("another node: %v", err)
	}
	if _, err := Load(dir, cluster+1, 1); !errors.Is(err, ErrIdentity) {
		t.Errorf("another cluster: %v", err)
	}
	if err := Found(dir, cluster+1, 1, noon); !errors.Is(err, fs.ErrExist) {
		t.Errorf("founded again: %v", err)
	}
	if _, err := Load(t.TempDir(), cluster, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestDamagedFile checks that truncated files, and files with a part of another identity, are
// rejected.
func TestDamagedFile(t *testing.T) {
	one, two := blocks(t, cluster), blocks(t, cluster)
	whole := slices.Concat(one...)
	for n := 0; n < len(whole)-len("\n"); n += 10 {
		if _, err := decode(whole[:n], cluster, 1); !errors.Is(err, ErrIdentity) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	for i := range one {
		mixed := slices.Clone(one)
		mixed[i] = two[i]
		if _, err := decode(slices.Concat(mixed...), cluster, 1); !errors.Is(err, ErrIdentity) {
			t.Errorf("block %d of another: %v", i, err)
		}
	}
	if _, err := decode(slices.Concat(one[0], one[1], two[2], two[3]), cluster, 1); !errors.Is(err, ErrIdentity) {
		t.Errorf("another authority: %v", err)
	}
	if _, err := decode(slices.Concat(whole, two[2]), cluster, 1); !errors.Is(err, ErrIdentity) {
		t.Errorf("a certificate too many: %v", err)
	}
}

// blocks returns the four parts of the file of a new identity.
func blocks(t *testing.T, cluster uint64) [][]byte {
	t.Helper()
	id := founded(t, cluster, noon)
	file, err := os.ReadFile(filepath.Join(id.dir, identityFile))
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.SplitAfter(file, []byte("-----\n"))
	if len(parts) != 9 {
		t.Fatalf("the file is\n%s", file)
	}
	var whole [][]byte
	for i := 0; i < 8; i += 2 {
		whole = append(whole, slices.Concat(parts[i], parts[i+1]))
	}
	return whole
}

// TestCrash cuts the power at each step of Found and of Renew. Afterwards an identity is complete
// or missing, and a renewal never loses the previous one.
func TestCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const dir = "data/cluster"
	late := noon.Add(nodeLife)
	for step := 1; ; step++ {
		disk := vfs.NewMem()
		failing := vfs.NewErrors(disk)
		failing.CrashAt(step)
		err := found(failing, dir, cluster, 1, noon)
		for range 20 {
			after := disk.CrashClone(rng)
			if _, lerr := load(after, dir, cluster, 1); lerr != nil && (err == nil || !errors.Is(lerr, fs.ErrNotExist)) {
				t.Fatalf("founding, step %d: %v, then %v", step, err, lerr)
			} else if lerr != nil {
				if err := found(after, dir, cluster, 1, noon); err != nil {
					t.Fatalf("founding again: %v", err)
				}
			}
		}
		if err == nil {
			break
		}
	}
	for step := 1; ; step++ {
		disk := vfs.NewMem()
		failing := vfs.NewErrors(disk)
		if err := found(failing, dir, cluster, 1, noon); err != nil {
			t.Fatal(err)
		}
		id, err := load(failing, dir, cluster, 1)
		if err != nil {
			t.Fatal(err)
		}
		failing.CrashAt(failing.Count() + step)
		renewed, err := id.Renew(late)
		if renewed != (err == nil) || renewed != id.pair.Load().Leaf.NotAfter.After(late) {
			t.Fatalf("renewing, step %d: %v, %v", step, renewed, err)
		}
		for range 20 {
			kept, lerr := load(disk.CrashClone(rng), dir, cluster, 1)
			if lerr != nil {
				t.Fatalf("renewing, step %d: %v", step, lerr)
			}
			if renewed && !kept.pair.Load().Leaf.Equal(id.pair.Load().Leaf) {
				t.Fatal("what was renewed is not on the disk")
			}
		}
		if err == nil {
			break
		}
	}
}

// TestRenewal checks that a certificate is renewed in the last third of its life, and after it has
// expired. The new certificate is for the same node, by the same authority.
func TestRenewal(t *testing.T) {
	id := founded(t, cluster, noon)
	first := id.pair.Load().Leaf
	if first.NotAfter != noon.Add(nodeLife) {
		t.Errorf("it is valid until %s", first.NotAfter)
	}
	const day = 24 * time.Hour
	for _, tc := range []struct {
		at   time.Duration
		want bool
	}{{0, false}, {59 * day, false}, {61 * day, true}, {62 * day, false}, {300 * day, true}} {
		if renewed, err := id.Renew(noon.Add(tc.at)); renewed != tc.want || err != nil {
			t.Errorf("after %s: %v, %v", tc.at, renewed, err)
		}
	}
	kept, err := Load(id.dir, cluster, 1)
	if err != nil {
		t.Fatal(err)
	}
	pair := kept.pair.Load()
	if !pair.Leaf.Equal(id.pair.Load().Leaf) || pair.Leaf.NotAfter != noon.Add(390*day) || !kept.root.Equal(id.root) {
		t.Errorf("kept is %v", pair.Leaf.NotAfter)
	}
	if !bytes.Equal(kept.secret, id.secret) {
		t.Error("the secret of tokens has changed")
	}
}

// TestRenewalWhileConnected checks that a renewal does not affect existing connections, and that
// new connections use the new certificate on both ends.
func TestRenewalWhileConnected(t *testing.T) {
	now := time.Now()
	one := founded(t, cluster, now.Add(-80*24*time.Hour))
	file, err := issue(one.authority, cluster, 2, now.Add(-80*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := create(vfs.OS{}, dir, identityFile, file); err != nil {
		t.Fatal(err)
	}
	two, err := Load(dir, cluster, 2)
	if err != nil {
		t.Fatal(err)
	}
	a, b := start(t, listen(t), one, nil), start(t, listen(t), two, nil)
	members := map[uint64]string{1: a.address, 2: b.address}
	a.SetPeers(members, 9)
	b.SetPeers(members, 9)
	connect(t, a, 2)
	connect(t, b, 1)
	before := a.log.String() + b.log.String()
	for _, id := range []*Identity{one, two} {
		if renewed, err := id.Renew(now); !renewed || err != nil {
			t.Fatal(renewed, err)
		}
	}
	greet(t, a, 1, 2, b)
	nc, err := a.Dial(context.Background(), 2, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if got := nc.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState().PeerCertificates[0]; !got.Equal(two.pair.Load().Leaf) {
		t.Errorf("node 2 presents a certificate until %s", got.NotAfter)
	}
	if text := a.log.String() + b.log.String(); text != before {
		t.Errorf("a connection has ended:\n%s", text)
	}
}
