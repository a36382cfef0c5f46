package store

import (
	"errors"
	"sync"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// maxOpenFiles bounds the number of sealed segments that are open for reading.
const maxOpenFiles = 128

// errStale means that the image was replaced or deleted since it was looked up. Look it up again.
var errStale = errors.New("store: segment was replaced")

// files opens segment files on demand and closes the oldest ones without readers.
type files struct {
	fs vfs.FS

	mu   sync.Mutex
	open []*image // sealed segments with an open file, in order of opening
}

// image is one version of a segment's bytes: Rewrite and Rewind create a new one. Invariant: the
// bytes before the end offset that Store.find returns never change while the image is not stale.
type image struct {
	name string
	path string
	salt uint32

	// guarded by files.mu
	file  vfs.File
	users int  // reads in progress, plus one while the committer writes it
	stale bool // path holds another image by now, or the end of this one was cut
}

// imageReader reads an image as an io.ReaderAt. It returns errStale if the image became stale
// before the read ended. It holds no file open between reads.
type imageReader struct {
	files *files
	img   *image
}

func (r imageReader) ReadAt(p []byte, off int64) (int, error) {
	f, err := r.files.acquire(r.img)
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, off)
	if r.files.release(r.img) {
		return 0, errStale // Rewind may have changed the file meanwhile
	}
	return n, err
}

func (fl *files) acquire(img *image) (vfs.File, error) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if img.stale {
		return nil, errStale
	}
	if img.file == nil {
		fl.closeIdle(maxOpenFiles - 1)
		f, err := fl.fs.Open(img.path)
		if vfs.IsOutOfFiles(err) {
			fl.closeIdle(0)
			f, err = fl.fs.Open(img.path)
		}
		if err != nil {
			return nil, err
		}
		img.file = f
		fl.open = append(fl.open, img)
	}
	img.users++
	return img.file, nil
}

// release ends a read and reports whether the image has become stale.
func (fl *files) release(img *image) (stale bool) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	img.users--
	if img.stale && img.users == 0 {
		img.close()
	}
	return img.stale
}

// closeIdle closes files without readers, oldest first, until at most n are open. mu is held.
func (fl *files) closeIdle(n int) {
	kept := fl.open[:0]
	for i, img := range fl.open {
		if img.users == 0 && len(kept)+len(fl.open)-i > n {
			img.close()
		} else {
			kept = append(kept, img)
		}
	}
	clear(fl.open[len(kept):])
	fl.open = kept
}

// add takes over the file that the committer wrote and has now sealed. It ends the committer's use
// of it.
func (fl *files) add(img *image) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	img.users--
	fl.closeIdle(maxOpenFiles - 1)
	fl.open = append(fl.open, img)
}

// retire makes later reads of img fail with errStale. Called with mu held, together with the change
// of the file at its path.
func (fl *files) retire(img *image) {
	img.stale = true
	for i, other := range fl.open {
		if other == img {
			fl.open = append(fl.open[:i], fl.open[i+1:]...)
			break
		}
	}
	if img.users == 0 {
		img.close()
	}
}

func (fl *files) closeAll() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.closeIdle(0)
}

func (img *image) close() {
	if img.file != nil {
		img.file.Close() // only read, or synced before: an error loses nothing
		img.file = nil
	}
}
