package keyspace

import (
	"context"

	"go.etcd.io/etcd/pkg/v3/traceutil"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// withLeases is a store that reads a range of keys only with the keys' leases, as etcd did before
// 3.7. Since then etcd reads such a range from its index, which has no leases (its issue 22209),
// and clients that look for keys with a lease find none.
type withLeases struct{ mvcc.WatchableKV }

// Read creates a read transaction.
func (kv withLeases) Read(mode mvcc.ReadTxMode, trace *traceutil.Trace) mvcc.TxnRead {
	return readWithLeases{kv.WatchableKV.Read(mode, trace)}
}

// Write creates a write transaction.
func (kv withLeases) Write(trace *traceutil.Trace) mvcc.TxnWrite {
	return writeWithLeases{kv.WatchableKV.Write(trace)}
}

type readWithLeases struct{ mvcc.TxnRead }

// Range reads keys.
func (r readWithLeases) Range(ctx context.Context, key, end []byte, o mvcc.RangeOptions) (*mvcc.RangeResult, error) {
	o.FastKeysOnly = false
	return r.TxnRead.Range(ctx, key, end, o)
}

type writeWithLeases struct{ mvcc.TxnWrite }

// Range reads keys.
func (w writeWithLeases) Range(ctx context.Context, key, end []byte, o mvcc.RangeOptions) (*mvcc.RangeResult, error) {
	return readWithLeases{w.TxnWrite}.Range(ctx, key, end, o)
}
