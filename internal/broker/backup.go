package broker

import (
	"archive/tar"
	"io"
	"time"
)

// Backup writes a tar archive of the data folder as it is now: a broker that starts on what is in
// it has all that was promised before the call, and no half of a transaction. Work goes on
// meanwhile. Segments that are deleted while it is written take disk space until the end.
func (b *Broker) Backup(w io.Writer) error {
	sn, err := b.store.Snapshot()
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
