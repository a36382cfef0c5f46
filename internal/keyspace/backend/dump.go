package backend

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"

	"fiveways.dev/fiveways/internal/core/codec"
)

// These bytes are on disk; docs/format/keyspace.md describes them.
const (
	dumpMagic   = "5wkeys\x00\x01" // the last byte is the version
	itemBucket  = 1
	itemRecord  = 2
	itemEnd     = 3
	dumpBlock   = 256 << 10
	maxDumpItem = 1 << 30
)

var (
	// ErrDump means that a dump is damaged or ends early.
	ErrDump = errors.New("the dump is damaged")
	// ErrDumpVersion means that another version wrote the dump.
	ErrDumpVersion = errors.New("the dump has an unknown version")
)

var dumpTable = crc32.MakeTable(crc32.Castagnoli)

// Frozen is a snapshot of the buckets that can be written. It holds memory until Write or Release.
type Frozen struct {
	b     *Backend
	once  sync.Once
	view  *view
	index uint64
}

// Freeze returns a snapshot of the current buckets, without blocking writers. index is stored in
// the dump.
func (b *Backend) Freeze(index uint64) *Frozen {
	return &Frozen{b: b, view: b.acquire(), index: index}
}

// Size returns the approximate number of bytes that Write writes.
func (f *Frozen) Size() int64 {
	_, live := f.view.size()
	return live
}

// Release releases the snapshot. It may be called at any time, and twice.
func (f *Frozen) Release() { f.once.Do(func() { f.b.release(f.view) }) }

// Write writes the dump. It may be called only once.
func (f *Frozen) Write(to io.Writer) (err error) {
	err = errors.New("keyspace: the frozen state was abandoned")
	f.once.Do(func() {
		defer f.b.release(f.view)
		err = f.view.dump(to, f.index)
	})
	return err
}

func (v *view) dump(to io.Writer, index uint64) error {
	if _, err := io.WriteString(to, dumpMagic); err != nil {
		return err
	}
	d := dumper{to: to}
	records := uint64(0)
	for i := range v.tables {
		t := &v.tables[i]
		d.item(itemBucket, []byte(t.name))
		_ = v.forEach(t.id, func(key, value []byte) error {
			records++
			d.item(itemRecord, key)
			d.block = codec.AppendPrefixed(d.block, value)
			return d.flush(dumpBlock)
		})
	}
	d.block = codec.AppendUvarints(append(d.block, itemEnd), records, index)
	return d.flush(1)
}

// dumper collects items into blocks. It keeps the first error.
type dumper struct {
	to    io.Writer
	block []byte
	err   error
}

func (d *dumper) item(kind byte, name []byte) {
	d.block = codec.AppendPrefixed(append(d.block, kind), name)
}

// flush writes the block if it has at least the given number of bytes: its length, its checksum,
// its content.
func (d *dumper) flush(least int) error {
	if d.err != nil || len(d.block) < least {
		return d.err
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(d.block)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(d.block, dumpTable))
	if _, d.err = d.to.Write(head[:]); d.err == nil {
		_, d.err = d.to.Write(d.block)
	}
	d.block = d.block[:0]
	return d.err
}

// Load replaces all buckets with those of a dump and returns its index. After an error the buckets
// must not be used.
func (b *Backend) Load(from io.Reader) (index uint64, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	magic := make([]byte, len(dumpMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDump, err)
	}
	if string(magic) != dumpMagic {
		return 0, fmt.Errorf("%w: it begins with %x", ErrDumpVersion, magic)
	}
	b.tx.mu.Lock()
	defer b.tx.mu.Unlock()
	defer b.publish()
	l := loader{w: &b.tx.w}
	for _, t := range slices.Clone(l.w.tables) {
		l.w.drop(bucketOf(t.id))
	}
	for !l.ended {
		if err := l.readBlock(in); err != nil {
			return 0, err
		}
	}
	return l.index, nil
}

func bucketOf(id etcd.BucketID) etcd.Bucket {
	for _, b := range schema.AllBuckets {
		if b.ID() == id {
			return b
		}
	}
	return schema.Test
}

// loader fills a writer with the content of blocks.
type loader struct {
	w       *writer
	bucket  etcd.Bucket
	block   []byte
	records uint64
	index   uint64
	ended   bool
}

func (l *loader) readBlock(in io.Reader) error {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("%w: it ends early: %w", ErrDump, err)
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size == 0 || size > maxDumpItem {
		return fmt.Errorf("%w: a block of %d bytes", ErrDump, size)
	}
	if cap(l.block) < size {
		l.block = make([]byte, size)
	}
	l.block = l.block[:size]
	if _, err := io.ReadFull(in, l.block); err != nil {
		return fmt.Errorf("%w: it ends early: %w", ErrDump, err)
	}
	if sum := crc32.Checksum(l.block, dumpTable); sum != binary.LittleEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: a block with check sum %08x", ErrDump, sum)
	}
	return l.items(l.block)
}

func (l *loader) items(block []byte) error {
	in := codec.NewReader(block)
	for in.Len() > 0 {
		switch kind := in.Uint8(); kind {
		case itemBucket:
			if err := l.begin(in.String()); err != nil {
				return err
			}
		case itemRecord:
			key, value := in.Prefixed(), in.Prefixed()
			if in.Err() != nil || !l.put(key, value) {
				return fmt.Errorf("%w: a record out of place", ErrDump)
			}
		case itemEnd:
			if records := in.Uvarint(); records != l.records {
				return fmt.Errorf("%w: %d records instead of %d", ErrDump, l.records, records)
			}
			l.index, l.ended = in.Uvarint(), true
		default:
			return fmt.Errorf("%w: an item of kind %d", ErrDump, kind)
		}
	}
	if in.Err() != nil {
		return fmt.Errorf("%w: an item ends early", ErrDump)
	}
	return nil
}

// put adds a record. It returns false if the record cannot belong to its bucket.
func (l *loader) put(key, value []byte) bool {
	if l.bucket == nil {
		return false
	}
	if isRevisions(l.bucket) {
		last := l.w.last()
		if len(key) < 17 || len(key) > 18 || last != nil && bytes.Compare(last.key(last.n-1), key) >= 0 {
			return false
		}
	}
	l.w.put(l.bucket, key, value)
	l.records++
	return true
}

func (l *loader) begin(name string) error {
	for _, b := range schema.AllBuckets {
		if string(b.Name()) == name {
			l.bucket = b
			l.w.create(b)
			return nil
		}
	}
	return fmt.Errorf("%w: a bucket %q", ErrDumpVersion, name)
}
