package replica

import "fiveways.dev/fiveways/internal/broker/shardlog"

// A leadership's log is one that an engine can append to.
var _ shardlog.Log = (*Log)(nil)
