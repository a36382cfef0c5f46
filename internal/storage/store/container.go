package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A checkpoint's container has a header, blocks, and an empty block at the end, see
// docs/format/log.md.
const (
	checkpointMagic   = "5WAYSCKP"
	checkpointVersion = 1
	checkpointHeader  = 32
	checkpointBlock   = 256 << 10 // bytes of data in a full block
	blockHeader       = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockSum covers the length, the number and the data of a block, so that a misplaced block is
// detected like a changed one.
func blockSum(number uint32, data []byte) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[0:], uint32(len(data)))
	binary.LittleEndian.PutUint32(b[4:], number)
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, data)
}

func appendCheckpointHeader(dst []byte, c checkpointFile) []byte {
	at := len(dst)
	le := binary.LittleEndian
	dst = append(dst, checkpointMagic...)
	dst = le.AppendUint32(dst, checkpointVersion)
	dst = le.AppendUint32(dst, c.shard)
	dst = le.AppendUint64(dst, c.index)
	dst = le.AppendUint32(dst, 0)
	return le.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// checkpointWriter splits its input into blocks.
type checkpointWriter struct {
	w      io.WriterAt
	off    int64
	number uint32
	buf    []byte // header of the block, then data
}

func newCheckpointWriter(w io.WriterAt, c checkpointFile) (*checkpointWriter, error) {
	h := appendCheckpointHeader(nil, c)
	if _, err := w.WriteAt(h, 0); err != nil {
		return nil, err
	}
	cw := &checkpointWriter{w: w, off: checkpointHeader, buf: make([]byte, blockHeader, blockHeader+checkpointBlock)}
	return cw, nil
}

func (w *checkpointWriter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		n := min(len(p), cap(w.buf)-len(w.buf))
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return total - len(p), err
			}
		}
	}
	return total, nil
}

// flush writes the current block.
func (w *checkpointWriter) flush() error {
	data := w.buf[blockHeader:]
	binary.LittleEndian.PutUint32(w.buf[0:], uint32(len(data)))
	binary.LittleEndian.PutUint32(w.buf[4:], blockSum(w.number, data))
	if _, err := w.w.WriteAt(w.buf, w.off); err != nil {
		return err
	}
	w.off += int64(len(w.buf))
	w.number++
	w.buf = w.buf[:blockHeader]
	return nil
}

// finish writes the rest and the empty block that marks the end.
func (w *checkpointWriter) finish() error {
	if len(w.buf) > blockHeader {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.flush()
}

// checkpointReader reads back the input of a checkpointWriter. It verifies each block before it
// returns any of it.
type checkpointReader struct {
	r      io.Reader
	want   checkpointFile
	opened bool
	number uint32
	buf    []byte
	rest   []byte // of buf, not yet read
	err    error  // sticky
}

func newCheckpointReader(r io.Reader, want checkpointFile) *checkpointReader {
	return &checkpointReader{r: r, want: want}
}

// Read returns ErrCorrupt, ErrUnsupportedFormat, or an error of the file.
func (r *checkpointReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.err = r.nextBlock()
	}
	if len(r.rest) > 0 {
		n := copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	return 0, r.err
}

func (r *checkpointReader) nextBlock() error {
	if !r.opened {
		if err := r.readHeader(); err != nil {
			return err
		}
		r.opened = true
	}
	var h [blockHeader]byte
	if err := r.full(h[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(h[0:])
	if n > checkpointBlock {
		return fmt.Errorf("%w: block %d of checkpoint", ErrCorrupt, r.number)
	}
	if cap(r.buf) < int(n) {
		r.buf = make([]byte, n)
	}
	data := r.buf[:n]
	if err := r.full(data); err != nil {
		return err
	}
	if blockSum(r.number, data) != binary.LittleEndian.Uint32(h[4:]) {
		return fmt.Errorf("%w: block %d of checkpoint", ErrCorrupt, r.number)
	}
	r.number++
	if n == 0 {
		return r.atEnd()
	}
	r.rest = data
	return nil
}

func (r *checkpointReader) readHeader() error {
	var h [checkpointHeader]byte
	if err := r.full(h[:]); err != nil {
		return err
	}
	le := binary.LittleEndian
	if string(h[:8]) != checkpointMagic || le.Uint32(h[28:]) != crc32.Checksum(h[:28], castagnoli) {
		return fmt.Errorf("%w: header of checkpoint", ErrCorrupt)
	}
	if v := le.Uint32(h[8:]); v != checkpointVersion {
		return fmt.Errorf("%w: checkpoint version %d", ErrUnsupportedFormat, v)
	}
	if got := (checkpointFile{shard: le.Uint32(h[12:]), index: le.Uint64(h[16:])}); got != r.want {
		return fmt.Errorf("%w: holds checkpoint %s", ErrCorrupt, got.name())
	}
	return nil
}

// atEnd returns io.EOF if nothing follows the empty block.
func (r *checkpointReader) atEnd() error {
	var b [1]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil {
		return err // io.EOF is expected
	}
	return fmt.Errorf("%w: bytes after the end of the checkpoint", ErrCorrupt)
}

// full reads len(p) bytes. It returns ErrCorrupt if the file ends before that.
func (r *checkpointReader) full(p []byte) error {
	_, err := io.ReadFull(r.r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: checkpoint is cut off in block %d", ErrCorrupt, r.number)
	}
	return err
}
