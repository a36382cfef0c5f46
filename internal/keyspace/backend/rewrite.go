package backend

// tidy frees the memory of deleted records. It rewrites chunks in which at least the given
// percentage of the bytes is deleted, together with the previous chunk if both are small.
func (w *writer) tidy(least int) {
	for i := len(w.chunks) - 1; i >= 0; i-- {
		c := w.chunks[i]
		if c.deadN == 0 || c.deadBytes*100 < c.used*least {
			continue
		}
		w.ownList()
		if c.deadN < c.n {
			w.rewrite(i)
			continue
		}
		w.retire(c)
		w.chunks = append(w.chunks[:i], w.chunks[i+1:]...)
		if i == len(w.chunks) {
			w.open = false
		}
	}
	w.lastN = 0
	if last := w.last(); last != nil {
		w.lastN = last.n
	}
}

// rewrite copies the live records of chunk i, and of a small chunk before it, into a new chunk.
func (w *writer) rewrite(i int) {
	from := i
	if i > 0 && w.chunks[i].live()+w.chunks[i-1].live() <= chunkBytes/2 {
		from = i - 1
	}
	isLast := i == len(w.chunks)-1
	next := w.roomFor(from, i, isLast)
	for k := from; k <= i; k++ {
		c := w.chunks[k]
		for j := range c.n {
			if !c.isDead(j) {
				next.add(c.record(j))
			}
		}
		w.retire(c)
	}
	w.total += int64(next.used)
	w.chunks[from] = next
	w.chunks = append(w.chunks[:from+1], w.chunks[i+1:]...)
	if isLast {
		w.open = true
	}
}

// roomFor returns an empty chunk for the live records of a range of chunks. It has spare room only
// if records will follow.
func (w *writer) roomFor(from, to int, grows bool) *chunk {
	if grows {
		return newChunk(w.chunks[from].liveWithSlots() + w.chunks[to].liveWithSlots())
	}
	need := 0
	for k := from; k <= to; k++ {
		need += w.chunks[k].liveWithSlots()
	}
	return &chunk{mem: newRegion((need + 4095) &^ 4095)}
}

func (c *chunk) live() int { return c.used - c.deadBytes }

func (c *chunk) liveWithSlots() int { return c.live() + slotBytes*(c.n-c.deadN) }

func (w *writer) retire(c *chunk) {
	w.total -= int64(c.used)
	w.dead -= int64(c.deadBytes)
	w.retired = append(w.retired, c.mem)
	delete(w.touched, c)
}
