package replica

import "fiveways/internal/broker"

// A reign's log is one that an engine can append to.
var _ broker.Log = (*Log)(nil)
