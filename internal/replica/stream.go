package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"golang.org/x/time/rate"

	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	// chunkPatience is how long a node may take for a chunk.
	chunkPatience = 10 * time.Second
	maxAnswer     = 4 << 10
)

// prepare opens a snapshot. It may wait for the store's cleaning.
func (r *Replica) prepare(log *store.RaftLog) {
	sn, err := log.Snapshot(func() (last uint64, err error) {
		asked := make(chan struct{})
		if !r.later(func(c *core) {
			c.snapshotEntry(func(index uint64, reason error) {
				last, err = index, reason
				close(asked)
			})
		}) {
			return 0, ErrStopped
		}
		select {
		case <-asked:
			return last, err
		case <-r.stopped:
			return 0, ErrStopped
		}
	})
	if !r.later(func(c *core) { c.prepared(sn, err) }) && err == nil {
		sn.Close()
	}
}

// stream sends a snapshot over a separate connection.
func (r *Replica) stream(m *pb.Message, sn *store.RaftSnapshot) {
	defer sn.Close()
	err := r.sendSnapshot(m, sn)
	r.later(func(c *core) { c.sent(m.GetTo(), err) })
}

func (r *Replica) sendSnapshot(m *pb.Message, sn *store.RaftSnapshot) error {
	nc, err := r.o.Dial(r.ctx, m.GetTo())
	if err != nil {
		return err
	}
	defer nc.Close()
	defer context.AfterFunc(r.ctx, func() { nc.Close() })()
	pace := rate.NewLimiter(rate.Limit(r.o.SnapshotRate), chunkHeader+maxChunk)
	out := newOutgoing(m, sn, maxChunk)
	for {
		chunk, err := out.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := pace.WaitN(r.ctx, min(len(chunk), pace.Burst())); err != nil {
			return err
		}
		if err := writeChunk(nc, chunk); err != nil {
			return err
		}
	}
	nc.SetReadDeadline(time.Time{}) //nolint:errcheck // the peer verifies the snapshot now, which takes time
	answer, err := readChunk(nc, maxAnswer)
	if err == nil && len(answer) > 0 {
		err = errors.New(string(answer))
	}
	return err
}

// reception is a snapshot that is being received.
type reception struct {
	nc   net.Conn
	done chan struct{} // closed when the reception has ended completely
}

// Receive receives a snapshot that another node sends over a connection (its Options.Dial), and
// closes the connection. After the installation, Err returns ErrInstalled. A reception in progress
// is aborted: its sender hangs or is cut off, and no longer leads.
func (r *Replica) Receive(from uint64, nc net.Conn) error {
	defer nc.Close()
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrStopped
	}
	r.receivers.Add(1)
	before, this := r.receiving, &reception{nc, make(chan struct{})}
	r.receiving = this
	r.mu.Unlock()
	defer r.receivers.Done()
	defer close(this.done)
	defer context.AfterFunc(r.ctx, func() { nc.Close() })()
	if before != nil {
		before.nc.Close()
		<-before.done
	}
	in := &incoming{from: from, self: r.self, levels: level.Supported, log: r.o.Store.Raft()}
	err := r.receive(in, nc)
	if err != nil {
		in.drop()
		answer(nc, err)
		return err
	}
	result := make(chan error, 1)
	if !r.later(func(c *core) {
		err := c.received(in.m, in.staged)
		if errors.Is(err, ErrInstalled) {
			answer(nc, nil) // answer now: the replica will stop and close its connections
		}
		result <- err
	}) {
		in.drop()
		return ErrStopped
	}
	if err = <-result; !errors.Is(err, ErrInstalled) {
		answer(nc, err)
	}
	return err
}

func (r *Replica) receive(in *incoming, nc net.Conn) error {
	br := bufio.NewReaderSize(nc, 64<<10)
	for !in.ended {
		nc.SetReadDeadline(time.Now().Add(chunkPatience)) //nolint:errcheck // a read reports the error
		chunk, err := readChunk(br, chunkHeader+maxChunk)
		if err != nil {
			return err
		}
		if err := in.take(chunk); err != nil {
			return err
		}
	}
	return in.verify()
}

// answer sends the outcome of a snapshot, which is empty after an installation.
func answer(nc net.Conn, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	writeChunk(nc, []byte(text[:min(len(text), maxAnswer)])) //nolint:errcheck // the peer times out
}

func writeChunk(nc net.Conn, chunk []byte) error {
	nc.SetWriteDeadline(time.Now().Add(chunkPatience)) //nolint:errcheck // a write reports the error
	buffers := net.Buffers{binary.LittleEndian.AppendUint32(nil, uint32(len(chunk))), chunk}
	_, err := buffers.WriteTo(nc)
	return err
}

// readChunk reads a chunk, and rejects one of more than most bytes.
func readChunk(r io.Reader, most uint32) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > most {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", errBadChunk, n, most)
	}
	chunk := make([]byte, n)
	_, err := io.ReadFull(r, chunk)
	return chunk, err
}
