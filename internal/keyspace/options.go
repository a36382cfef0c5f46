package keyspace

import (
	"cmp"
	etcdstorage "go.etcd.io/etcd/server/v3/storage"
	"go.uber.org/zap"
)

// Options configures a Store. The zero value is suitable for tests.
type Options struct {
	// Logger receives the log of etcd's code; nil discards it.
	Logger *zap.Logger
	// Folder is where Snapshot creates temporary files; "" means the system's folder.
	Folder string
	// Name is the member's name. Its ID, and that of the cluster, are derived from Name and Place
	// once, and then recorded.
	Name string
	// Place distinguishes nodes of the same name: the data folder.
	Place string
	// QuotaBytes is how many bytes the keys may take before puts are refused and the alarm is
	// raised; 0 means 2 GiB, a negative value no limit.
	QuotaBytes int64
	// MaxRequestBytes is the maximum size of a change; 0 means 1.5 MiB, as in etcd.
	MaxRequestBytes int
	// MinLeaseTTL is the shortest TTL of a lease in seconds; 0 means 2 s, etcd's default.
	MinLeaseTTL int64
}

const (
	defaultMaxRequestBytes = 1536 << 10
	defaultMinLeaseTTL     = 2
)

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	o.QuotaBytes = cmp.Or(o.QuotaBytes, etcdstorage.DefaultQuotaBytes)
	o.MaxRequestBytes = cmp.Or(o.MaxRequestBytes, defaultMaxRequestBytes)
	o.MinLeaseTTL = cmp.Or(o.MinLeaseTTL, defaultMinLeaseTTL)
	return o
}
