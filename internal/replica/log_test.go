package replica

import "fiveways/internal/broker/shard"

// A leadership's log is one that an engine can append to.
var _ shard.Log = (*Log)(nil)
