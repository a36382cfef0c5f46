package broker

import (
	"archive/tar"
	"io"
	"time"

	"fiveways/internal/storage/store"
)

// InCluster reports whether the broker is that of a node of a cluster.
func (b *Broker) InCluster() bool { return b.set.Store.Raft() != nil }

// Backup writes a tar archive of the data folder as it is now. A broker that starts on its content
// has all that was promised before the call, and no part of a transaction without the rest. The
// broker works on meanwhile. Segments that are deleted during the backup take disk space until its
// end. Errors: store.ErrReplica in a cluster, whose folders have more than a single node reads.
func (b *Broker) Backup(w io.Writer) error {
	if b.InCluster() {
		return store.ErrReplica
	}
	sn, err := b.set.Store.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	archive, now := tar.NewWriter(w), time.UnixMilli(b.Now())
	for _, f := range sn.Files {
		if err := archive.WriteHeader(&tar.Header{Name: f.Name, Size: f.Size, Mode: 0o600, ModTime: now, Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := io.Copy(archive, f.Reader()); err != nil {
			return err
		}
	}
	return archive.Close()
}
