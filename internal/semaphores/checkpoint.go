package semaphores

import (
	"encoding/binary"
	"io"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// checkpointStep is how many tasks or semaphores a checkpoint encodes before it releases the lock.
const checkpointStep = 4096

// Freeze implements statemachine.Machine. It blocks nothing: the checkpoint is written in steps
// between batches of the log. Later changes follow the checkpoint in the log and are replayed onto
// it. Everything a step sees is durable.
func (m *Manager) Freeze() (size int64, write func(io.Writer) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &checkpoint{m: m, all: m.table.sorted()}
	return int64(m.table.tasks)*32 + int64(len(c.all))*64, c.write
}

// checkpoint is a checkpoint being written.
type checkpoint struct {
	m    *Manager
	all  []*sem // existed at the beginning and are not written yet
	from uint32 // where the scan of the first semaphore's tasks continues; 0: not begun
	b    []byte
}

func (c *checkpoint) write(w io.Writer) error {
	c.b = append(c.b, formatVersion)
	for len(c.all) > 0 {
		if err := c.m.between(c.step); err != nil {
			return err
		}
		if _, err := w.Write(c.b); err != nil {
			return err
		}
		c.b = c.b[:0]
	}
	var last uint64
	if err := c.m.between(func() { last = c.m.table.lastID }); err != nil {
		return err
	}
	_, err := w.Write(binary.AppendUvarint(append(c.b, partEnd), last))
	return err
}

// step encodes the next part.
func (c *checkpoint) step() {
	for n := 0; n < c.m.step && len(c.all) > 0; n++ {
		s := c.all[0]
		if c.m.table.byID[s.id] != s {
			c.all, c.from = c.all[1:], 0
			continue
		}
		if c.from == 0 {
			c.b = appendHeader(append(c.b, partSemaphore), s)
		}
		c.from = s.state.Scan(c.from, c.m.step-n, func(t semaphore.Task) {
			c.b = appendTask(append(c.b, partTask), &t)
			n++
		})
		if c.from == 0 {
			c.all = c.all[1:]
		}
	}
}
