package broker

import (
	"archive/tar"
	"io"
	"time"
)

// Backup writes a tar archive of the current data directory. A broker started from it has
// everything promised before the call, and only whole transactions. It is a single node, even if
// this one leads a cluster. The broker keeps working meanwhile. Segments deleted during the backup
// take disk space until it ends. Errors: those of store.Store.Snapshot and of w.
func (b *Broker) Backup(w io.Writer) error {
	sn, err := b.set.Store.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	archive, now := tar.NewWriter(w), time.UnixMilli(b.Now())
	for i := range sn.Files {
		f := &sn.Files[i]
		size, err := f.Measure()
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: f.Name, Size: size, Mode: 0o600, ModTime: now, Format: tar.FormatPAX}); err != nil {
			return err
		}
		if err := f.Copy(archive); err != nil {
			return err
		}
	}
	return archive.Close()
}
