package keyspace

import (
	"cmp"
	etcdstorage "go.etcd.io/etcd/server/v3/storage"
	"go.uber.org/zap"
)

// Options says how a Store works. The zero value is good for tests.
type Options struct {
	// Logger is where etcd's code writes; nil for nowhere.
	Logger *zap.Logger
	// Folder is where Snapshot puts temporary files; "" for the system's.
	Folder string
	// Name is the member's name. Its id, and that of the cluster, come from Name and Place, once;
	// then they stay as they are recorded.
	Name string
	// Place tells nodes of one name apart: the data folder.
	Place string
	// QuotaBytes is how many bytes the keys may take before puts are refused and the alarm is
	// raised; 0 for 2 GiB, negative for no limit.
	QuotaBytes int64
	// MaxRequestBytes is how large a change may be; 0 for 1.5 MiB as in etcd.
	MaxRequestBytes int
	// MinLeaseTTL in seconds is the shortest time a lease gets; 0 for 2 s, what etcd has with its
	// default settings.
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
