package broker

// Resources are the limits of the broker on its machine, and what it uses.
type Resources struct {
	Dir           string
	Memory        int64  // bytes that the messages of queues take
	MemoryLimit   int64  // bytes of Memory from which publishers are held back
	DiskFree      int64  // bytes that are free on the disk of Dir; -1: unknown
	DiskFreeLimit int64  // bytes of DiskFree below which publishers are held back; 0: no limit
	Alarm         string // why publishers are held back now; "": they are not
}

// Resources reads them.
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
