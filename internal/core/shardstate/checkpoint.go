package shardstate

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// The checkpoint of a shard: version, flags, then (queue id, length, content) for each queue with
// messages, ended by the id 0; then the same for the keys of each queue; then the sections, each a
// number and contents by queue, ended by the number 0. See docs/format/facts.md.
const (
	checkpointVersion = 3      // 1 had no keys and sections; 2 had no sections and no front lanes
	checkpointClean   = 1 << 0 // no message was unacked when it was taken

	sectionStreams = 1
	sectionJobs    = 2
)

// maxContent limits what a damaged length can make the reader allocate.
const maxContent = 1 << 33

// Frozen is the state at one index. It is complete when Copy returns false; another goroutine may
// then write it while the machine continues.
type Frozen struct {
	Clean   bool     // no message was unacked
	rest    []*Queue // Copy has not come to them; of these, those whose copyTo is this one lack a copy
	queues  []frozen[*queue.Frozen]
	keys    []frozen[encoded]
	streams []frozen[*stream.Frozen]
	jobs    []frozen[encoded]
}

// content is something that a checkpoint can hold.
type content interface{ AppendTo(dst []byte) []byte }

// frozen is a part of a queue's content.
type frozen[C content] struct {
	queue   uint64
	content C
}

// encoded is content that was encoded when it was frozen.
type encoded []byte

func (e encoded) AppendTo(dst []byte) []byte { return append(dst, e...) }

// Freeze begins a copy of the state, which Copy completes. A queue that changes before its turn is
// copied first. A copy that is not complete by the next Freeze never will be. clean means that the
// process is ending; out then returns how many messages of a queue are unacked without a consumer.
func (m *Machine) Freeze(clean bool, out func(*Queue) int) *Frozen {
	f := &Frozen{Clean: clean, rest: make([]*Queue, 0, len(m.queues))}
	for _, q := range m.queues {
		f.Clean = f.Clean && q.State.Unacked() == out(q)+q.loggedLeases()
		q.copyTo = f
		f.rest = append(f.rest, q)
	}
	return f
}

// copyAtOnce is how many queues Copy copies, which takes less than a millisecond if they are small.
const copyAtOnce = 256

// Copy copies a few queues, and reports whether there are more. It belongs to the machine's
// goroutine.
func (f *Frozen) Copy() (more bool) {
	for n := copyAtOnce; n > 0 && len(f.rest) > 0; n-- {
		q := f.rest[len(f.rest)-1]
		f.rest = f.rest[:len(f.rest)-1]
		if q.copyTo == f {
			q.changes()
		}
	}
	return len(f.rest) > 0
}

// Complete copies all queues by functions that call runs on the machine's goroutine, which may do
// other work between them. It returns the errors of call.
func (f *Frozen) Complete(call func(func()) error) (err error) {
	for more := true; more && err == nil; {
		err = call(func() { more = f.Copy() })
	}
	return err
}

// take copies a queue.
func (f *Frozen) take(q *Queue) {
	id, st := q.ID, q.State
	if st.Ready()+st.Unacked()+st.Scheduled()+st.Blocked() > 0 {
		f.queues = append(f.queues, frozen[*queue.Frozen]{id, st.Freeze()})
	}
	if q.Keys != nil && q.Keys.Len() > 0 {
		f.keys = append(f.keys, frozen[encoded]{id, q.Keys.AppendTo(nil)})
	}
	if q.Stream != nil {
		f.streams = append(f.streams, frozen[*stream.Frozen]{id, q.Stream.Freeze()})
	}
	if q.Jobs != nil {
		f.jobs = append(f.jobs, frozen[encoded]{id, q.Jobs.AppendTo(nil)})
	}
}

// loggedLeases returns how many messages are leased durably.
func (q *Queue) loggedLeases() int {
	if q.Jobs == nil {
		return 0
	}
	return q.Jobs.LoggedLeases()
}

// Write writes the checkpoint, which must be complete, to w.
func (f *Frozen) Write(w io.Writer) error {
	if len(f.rest) > 0 {
		panic("shardstate: a checkpoint is not complete")
	}
	bw := bufio.NewWriterSize(w, 64<<10) // the first error sticks, and Flush returns it
	flags := byte(0)
	if f.Clean {
		flags |= checkpointClean
	}
	bw.Write([]byte{checkpointVersion, flags})
	writeQueues(bw, f.queues)
	writeContents(bw, f.keys)
	writeSection(bw, sectionStreams, f.streams)
	writeSection(bw, sectionJobs, f.jobs)
	bw.WriteByte(0)
	return bw.Flush()
}

// writeQueues is writeContents for queues, which it writes in pieces once their length is known.
func writeQueues(bw *bufio.Writer, list []frozen[*queue.Frozen]) {
	for _, f := range list {
		n := 0
		f.content.Pieces(func(piece []byte) { n += len(piece) })
		bw.Write(codec.AppendUvarints(nil, f.queue, uint64(n)))
		f.content.Pieces(func(piece []byte) { bw.Write(piece) })
	}
	bw.WriteByte(0)
}

// writeSection writes the contents of a section, unless it is empty.
func writeSection[C content](bw *bufio.Writer, number byte, list []frozen[C]) {
	if len(list) > 0 {
		bw.WriteByte(number)
		writeContents(bw, list)
	}
}

// writeContents writes contents, ended by the id 0.
func writeContents[C content](bw *bufio.Writer, list []frozen[C]) {
	var buf, head []byte
	for _, f := range list {
		buf = f.content.AppendTo(buf[:0])
		head = binary.AppendUvarint(binary.AppendUvarint(head[:0], f.queue), uint64(len(buf)))
		bw.Write(head)
		bw.Write(buf)
	}
	bw.WriteByte(0)
}

// Restore reads a checkpoint into the queues registered with Add, which must be empty. It skips the
// content of other queues, which were deleted since. clean means that no message was unacked when
// the checkpoint was taken.
func (m *Machine) Restore(r io.Reader) (clean bool, err error) {
	br := bufio.NewReaderSize(r, 256<<10)
	version, err := br.ReadByte()
	if err != nil {
		return false, err
	}
	if version < 1 || version > checkpointVersion {
		return false, fmt.Errorf("%w: shard checkpoint version %d", ErrUnsupported, version)
	}
	flags, err := br.ReadByte()
	if err == nil {
		err = m.restoreEach(br, func(q *Queue) restorer { return q.State })
	}
	if err == nil && version >= 2 {
		err = m.restoreEach(br, func(q *Queue) restorer {
			if q.Keys == nil {
				return nil
			}
			return q.Keys
		})
	}
	if err == nil && version >= 3 {
		err = m.restoreSections(br)
	}
	if err != nil {
		return false, err
	}
	for _, q := range m.queues {
		q.State.RefsByIndex(m.bodies.Retain)
	}
	return flags&checkpointClean != 0, nil
}

// restoreSections reads what queues have in addition to messages.
func (m *Machine) restoreSections(br *bufio.Reader) error {
	for {
		section, err := br.ReadByte()
		if err != nil || section == 0 {
			return err
		}
		var find func(*Queue) restorer
		switch section {
		case sectionStreams:
			find = func(q *Queue) restorer { return q.makeStream() }
		case sectionJobs:
			find = func(q *Queue) restorer { return q.keepLedger() }
		default:
			return fmt.Errorf("%w: section %d of a checkpoint", ErrUnsupported, section)
		}
		if err := m.restoreEach(br, find); err != nil {
			return err
		}
	}
}

// restorer can restore its content from a checkpoint.
type restorer interface{ Restore([]byte) error }

// restoreEach reads contents up to the id 0. find returns nil to skip the content of a queue.
func (m *Machine) restoreEach(br *bufio.Reader, find func(*Queue) restorer) error {
	for {
		id, err := binary.ReadUvarint(br)
		if err != nil || id == 0 {
			return err
		}
		n, err := binary.ReadUvarint(br)
		if err != nil {
			return err
		}
		if n > maxContent {
			return ErrMalformed
		}
		var to restorer
		if q := m.queues[id]; q != nil {
			to = find(q)
		}
		if to == nil {
			if _, err := io.CopyN(io.Discard, br, int64(n)); err != nil {
				return err
			}
			continue
		}
		content := make([]byte, n)
		if _, err := io.ReadFull(br, content); err != nil {
			return err
		}
		if err := to.Restore(content); err != nil {
			return fmt.Errorf("queue %d: %w: %w", id, ErrMalformed, err)
		}
	}
}
