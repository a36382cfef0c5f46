package broker

// Resources are what the broker may use, and uses, of its machine.
type Resources struct {
	Dir           string
	Memory        int64  // bytes held by queues' messages
	MemoryLimit   int64  // bytes of those beyond which publishers are held back
	DiskFree      int64  // bytes that are free where the data is; -1: not known
	DiskFreeLimit int64  // bytes below which publishers are held back; 0: none
	Alarm         string // why publishers are held back now, "" when they are not
}

// Resources looks at them.
func (b *Broker) Resources() Resources {
	r := Resources{Dir: b.dir, Memory: b.memory.Load(), MemoryLimit: b.opts.MemoryLimit, DiskFree: -1, DiskFreeLimit: max(b.opts.DiskFreeLimit, 0)}
	if free, err := b.fs.Free(b.dir); err == nil {
		r.DiskFree = int64(free)
	}
	if a := b.Alarm(); a != nil {
		r.Alarm = a.Reason
	}
	return r
}
