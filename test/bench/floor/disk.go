package floor

import (
	"errors"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// diskBytes is the size of the file that a Disk writes in a loop.
const diskBytes = 16 << 20

// Disk writes bytes as a log with a preallocated file does: a write overwrites existing data, so
// that a sync does not have to write the file system's journal.
//
// A nil Disk writes nothing.
type Disk struct {
	file vfs.File
	sync bool

	turn sync.Mutex // held by the round that is being written
	at   int64      // guarded by turn

	mu   sync.Mutex
	next *round // collects bytes until its turn; nil if none waits; guarded by mu
}

// round is what is written and synced together.
type round struct {
	bytes []byte
	done  chan struct{} // closed once err is set
	err   error
}

// OpenDisk creates the file at path. With sync, Keep returns once the bytes are durable, otherwise
// once they are written.
func OpenDisk(path string, sync bool) (*Disk, error) {
	f, err := vfs.OS{}.Create(path)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < diskBytes && err == nil; at += int64(len(zeros)) {
		_, err = f.WriteAt(zeros, at)
	}
	if err == nil {
		err = f.Datasync()
	}
	if err != nil {
		f.Close() //nolint:errcheck // it has failed already
		return nil, err
	}
	return &Disk{file: f, sync: sync}, nil
}

// Close closes the file.
func (d *Disk) Close() error {
	if d == nil {
		return nil
	}
	return d.file.Close()
}

// Keep writes b, together with the bytes of other callers that arrive while the previous round is
// being written. It is safe for concurrent use.
func (d *Disk) Keep(b []byte) error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	r := d.next
	first := r == nil
	if first {
		r = &round{done: make(chan struct{})}
		d.next = r
	}
	r.bytes = append(r.bytes, b...)
	d.mu.Unlock()
	if !first {
		<-r.done
		return r.err
	}
	d.turn.Lock()
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	r.err = d.write(r.bytes)
	d.turn.Unlock()
	close(r.done)
	return r.err
}

// write writes b. The caller holds turn.
func (d *Disk) write(b []byte) error {
	if d.at+int64(len(b)) > diskBytes {
		d.at = 0
	}
	if _, err := d.file.WriteAt(b, d.at); err != nil {
		return err
	}
	d.at += int64(len(b))
	if !d.sync {
		return nil
	}
	return d.file.Datasync()
}

// Probe lets writers call Keep with size bytes in a loop for the given time. It returns how long
// each call took.
func (d *Disk) Probe(writers, size int, length time.Duration) ([]time.Duration, error) {
	took, failed := make([][]time.Duration, writers), make([]error, writers)
	var all sync.WaitGroup
	deadline := time.Now().Add(length)
	for w := range writers {
		all.Go(func() {
			b := make([]byte, size)
			for from := time.Now(); from.Before(deadline) && failed[w] == nil; {
				failed[w] = d.Keep(b)
				now := time.Now()
				took[w] = append(took[w], now.Sub(from))
				from = now
			}
		})
	}
	all.Wait()
	return slices.Concat(took...), errors.Join(failed...)
}
