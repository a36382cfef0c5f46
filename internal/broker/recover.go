package broker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/store"
)

// recover rebuilds the definitions, then each shard: checkpoint first, then the
// log past it. Unless the broker was closed cleanly, every message may have
// been out, so all are redelivered from now on.
func (b *Broker) recover() error {
	newCatalog(b)
	b.catalog.logged.total = b.store.Stats().Bytes // nobody knows how much of it is older than which checkpoint
	last := uint32(b.opts.Shards)
	for _, id := range b.store.Shards() {
		if _, ok := annexNames[id]; !ok {
			last = max(last, id)
		}
	}
	for id := uint32(1); id <= last; id++ {
		b.shards = append(b.shards, newShard(b, id))
	}
	if err := b.recoverTopology(); err != nil {
		return fmt.Errorf("broker: recover definitions: %w", err)
	}
	b.reportBroken()
	b.catalog.compileAll()
	b.catalog.queues.Range(func(_, v any) bool {
		q := v.(*Queue)
		q.shard.register(q)
		return true
	})
	for _, sh := range b.shards {
		if err := sh.recover(); err != nil {
			return fmt.Errorf("broker: recover shard %d: %w", sh.id, err)
		}
	}
	for _, a := range b.annexes {
		if err := a.recover(); err != nil {
			return fmt.Errorf("broker: recover %s: %w", ShardName(a.shard), err)
		}
	}
	return nil
}

// reportBroken names the bindings that match nothing since this start.
func (b *Broker) reportBroken() {
	for _, v := range b.catalog.sortedVHosts() {
		for binding := range v.table.Load().Bindings() {
			if err := binding.Broken(); err != nil {
				b.log.Error("the condition of a binding cannot be used: it matches nothing", "vhost", v.Name,
					"exchange", binding.Source, "key", binding.Key, "err", err)
			}
		}
	}
}

func (b *Broker) recoverTopology() error {
	r, after, err := b.store.Checkpoint(topologyShard)
	if err != nil {
		return err
	}
	if r != nil {
		err = readFacts(r, func(fact []byte) error { return b.catalog.apply(after, fact) })
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	err = b.store.Replay(topologyShard, after, func(index uint64, _ uint32, fact []byte) error {
		b.catalog.logged.add(len(fact))
		return b.catalog.apply(index, fact)
	})
	b.catalog.index = max(b.catalog.index, b.store.Last(topologyShard))
	b.catalog.promise.durable = b.catalog.index
	return err
}

// readFacts calls fn for each length-prefixed fact of a checkpoint.
func readFacts(r io.Reader, fn func([]byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for {
		n, err := binary.ReadUvarint(br)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n > maxFactBytes {
			return errMalformedFact
		}
		if uint64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if _, err := io.ReadFull(br, buf); err != nil {
			return err
		}
		if err := fn(buf); err != nil {
			return err
		}
	}
}

// maxFactBytes bounds what a damaged length can make us allocate.
const maxFactBytes = 1 << 30

// recover rebuilds the shard's queues.
func (sh *shard) recover() error {
	clean := false
	r, after, err := sh.b.store.Checkpoint(sh.id)
	if err != nil {
		return err
	}
	if r != nil {
		clean, err = sh.restore(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("checkpoint at %d: %w", after, err)
		}
	}
	retain := func(index uint64, n int) {
		if n > 0 {
			sh.b.store.Retain(sh.id, index, n)
		} else {
			sh.b.store.Release(sh.id, index, -n)
		}
	}
	err = sh.b.store.Replay(sh.id, after, func(index uint64, sub uint32, fact []byte) error {
		clean = false
		sh.logged.add(len(fact))
		return sh.m.apply(index, sub, fact, &sh.scratch, retain)
	})
	if err != nil {
		return err
	}
	sh.index = sh.b.store.Last(sh.id) + 1
	sh.durable.upTo.Store(sh.index - 1)
	for _, q := range sh.queues {
		q.stream = sh.m.streams[q.ID]
		if !clean {
			q.state.MarkAllRedelivered()
		}
		if q.Policy().AtLeastOnce || sh.m.books[q.ID] != nil || q.state.Scheduled() > 0 { // a policy may have said so when they died
			sh.recoverDead(q)
		}
		sh.mark(q)
	}
	for _, o := range sh.orders {
		sh.recallOrder(o)
	}
	sh.recoverJobs()
	// From here on the clean checkpoint says nothing of deliveries any more.
	sh.entry.data = appendFact(sh.entry.data, factStart, 0)
	sh.entry.wait = sh.b.opts.Sync.Wait()
	sh.sub++
	return nil
}

// The checkpoint of a shard: version, flags, then (queue id, length, content)
// for each queue with messages, ended by id 0, then the same for each memory of
// keys. docs/format/facts.md.
const (
	checkpointVersion = 3      // 1 ended before the memories, 2 before the sections, and it knew no front lanes
	checkpointClean   = 1 << 0 // nothing was out when it was taken

	sectionStreams = 1 // the sections: a number, then contents by queue; 0 ends them
	sectionBooks   = 2
)

func (sh *shard) restore(r io.Reader) (clean bool, err error) {
	br := bufio.NewReaderSize(r, 256<<10)
	version, err := br.ReadByte()
	if err != nil {
		return false, err
	}
	if version < 1 || version > checkpointVersion {
		return false, fmt.Errorf("%w: shard checkpoint version %d", store.ErrUnsupportedFormat, version)
	}
	flags, err := br.ReadByte()
	if err != nil {
		return false, err
	}
	err = restoreEach(br, func(id uint64) restorer {
		if st := sh.m.queues[id]; st != nil {
			return st
		}
		return nil
	})
	if err == nil && version >= 2 {
		err = restoreEach(br, func(id uint64) restorer {
			if memory := sh.m.memories[id]; memory != nil {
				return memory
			}
			return nil
		})
	}
	if err == nil && version >= 3 {
		err = sh.restoreSections(br)
	}
	if err != nil {
		return false, err
	}
	for _, st := range sh.m.queues {
		st.RefsByIndex(func(index uint64, n int) { sh.b.store.Retain(sh.id, index, n) })
	}
	return flags&checkpointClean != 0, nil
}

// restoreSections reads what queues have beside their messages.
func (sh *shard) restoreSections(br *bufio.Reader) error {
	for {
		section, err := br.ReadByte()
		if err != nil || section == 0 {
			return err
		}
		var find func(id uint64) restorer
		switch section {
		case sectionStreams:
			find = func(id uint64) restorer {
				if sh.m.queues[id] != nil {
					return sh.m.makeStream(id)
				}
				return nil
			}
		case sectionBooks:
			find = func(id uint64) restorer {
				if sh.m.queues[id] != nil {
					return sh.m.book(id)
				}
				return nil
			}
		default:
			return fmt.Errorf("%w: section %d of a checkpoint", store.ErrUnsupportedFormat, section)
		}
		if err := restoreEach(br, find); err != nil {
			return err
		}
	}
}

// restorer takes the content that a checkpoint has of it.
type restorer interface{ Restore([]byte) error }

// restoreEach reads contents up to the id 0; find returns nil for what was
// deleted after the checkpoint.
func restoreEach(br *bufio.Reader, find func(id uint64) restorer) error {
	for {
		id, err := binary.ReadUvarint(br)
		if err != nil || id == 0 {
			return err
		}
		n, err := binary.ReadUvarint(br)
		if err != nil {
			return err
		}
		if n > maxFactBytes*8 {
			return errMalformedFact
		}
		to := find(id)
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
			return fmt.Errorf("queue %d: %w: %w", id, store.ErrCorrupt, err)
		}
	}
}

// frozenShard is the state of a shard at one index, to be written in the
// background.
type frozenShard struct {
	index  uint64
	clean  bool
	queues []frozenQueue
	keys   []frozenContent
	// streams is the content of section sectionStreams.
	streams []frozenStream
	books   []frozenContent // of section sectionBooks
}

type frozenStream struct {
	id      uint64
	content *stream.Frozen
}

type frozenQueue struct {
	id      uint64
	content *queue.Frozen
}

// frozenContent is the memory of keys of a queue, or its book of jobs.
type frozenContent struct {
	id      uint64
	content []byte
}

// freeze copies what may change; the shard goes on meanwhile.
func (sh *shard) freeze(clean bool) *frozenShard {
	f := &frozenShard{index: sh.index - 1, clean: clean}
	for id, st := range sh.m.queues {
		f.clean = f.clean && st.Unacked() == sh.heldDead(id)+sh.m.leased(id)
		if st.Ready()+st.Unacked()+st.Scheduled()+st.Blocked() > 0 {
			f.queues = append(f.queues, frozenQueue{id, st.Freeze()})
		}
	}
	for id, memory := range sh.m.memories {
		if memory.Len() > 0 {
			f.keys = append(f.keys, frozenContent{id, memory.AppendTo(nil)})
		}
	}
	for id, s := range sh.m.streams {
		f.streams = append(f.streams, frozenStream{id, s.Freeze()})
	}
	for id, book := range sh.m.books {
		f.books = append(f.books, frozenContent{id, book.AppendTo(nil)})
	}
	return f
}

func (f *frozenShard) write(w io.Writer) error {
	head := []byte{checkpointVersion, 0}
	if f.clean {
		head[1] |= checkpointClean
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	var buf []byte
	for _, q := range f.queues {
		buf = q.content.AppendTo(buf[:0])
		if err := writeContent(w, q.id, buf); err != nil {
			return err
		}
	}
	if _, err := w.Write([]byte{0}); err != nil {
		return err
	}
	for _, k := range f.keys {
		if err := writeContent(w, k.id, k.content); err != nil {
			return err
		}
	}
	if _, err := w.Write([]byte{0}); err != nil {
		return err
	}
	return f.writeSections(w)
}

// writeSections writes what queues have beside their messages; a section that would be empty is left out.
func (f *frozenShard) writeSections(w io.Writer) error {
	streams := func() error {
		for _, s := range f.streams {
			if err := writeContent(w, s.id, s.content.AppendTo(nil)); err != nil {
				return err
			}
		}
		return nil
	}
	books := func() error {
		for _, b := range f.books {
			if err := writeContent(w, b.id, b.content); err != nil {
				return err
			}
		}
		return nil
	}
	if err := writeSection(w, sectionStreams, len(f.streams), streams); err != nil {
		return err
	}
	if err := writeSection(w, sectionBooks, len(f.books), books); err != nil {
		return err
	}
	_, err := w.Write([]byte{0})
	return err
}

// writeSection writes the frame of a section of n contents.
func writeSection(w io.Writer, number byte, n int, contents func() error) error {
	if n == 0 {
		return nil
	}
	if _, err := w.Write([]byte{number}); err != nil {
		return err
	}
	if err := contents(); err != nil {
		return err
	}
	_, err := w.Write([]byte{0})
	return err
}

func writeContent(w io.Writer, id uint64, content []byte) error {
	head := binary.AppendUvarint(binary.AppendUvarint(nil, id), uint64(len(content)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
