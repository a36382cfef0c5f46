package store

// Pos names a fact for ever: it survives cleaning and restarts, and is never a file and an offset.
type Pos struct {
	Shard uint32
	Index uint64 // log index of the entry: contiguous per shard, from 1
	Sub   uint32 // number of the fact inside the entry, from 0
}

// Entry is one drain of a shard: concatenated facts that are written as one frame.
type Entry struct {
	Shard uint32
	Index uint64 // the shard's last index + 1
	Data  []byte // facts, immutable until done; at most 1 GiB
	Refs  int    // references that queues hold to bodies in this entry
	Wait  bool   // somebody waits for durability
}

// Run is a number of references to bodies of one entry.
type Run struct {
	Index uint64
	N     int
}
