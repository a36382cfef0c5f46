package replica

import "fiveways.dev/fiveways/internal/broker/shardlog"

// An engine can append to a Log.
var _ shardlog.Log = (*Log)(nil)
