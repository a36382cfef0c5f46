package enginetest

import (
	"errors"
	"io"
	"testing"

	"fiveways.dev/fiveways/internal/statemachine"
)

// Machine is a state machine whose hash is compared when its broker closes.
type Machine struct {
	statemachine.Machine
	New func() statemachine.Machine // an empty one, for a replay; closed after it if it is an io.Closer
}

// Sum returns the machine's hash. A machine without such a method cannot be compared.
func (m Machine) Sum() (uint64, bool) {
	return m.Machine.(interface{ Sum() (uint64, bool) }).Sum()
}

// newMachines makes empty machines instead of those of a broker, and returns a function that ends
// them.
func newMachines(t testing.TB, of map[uint32]statemachine.Machine) (all map[uint32]statemachine.Machine, end func()) {
	t.Helper()
	all = map[uint32]statemachine.Machine{}
	var errs []func() error
	for shard, m := range of {
		own, ok := m.(Machine)
		if !ok {
			t.Fatalf("%s: a test gives an enginetest.Machine, so that it can be compared", statemachine.ShardName(shard))
		}
		fresh := own.New()
		all[shard] = Machine{fresh, own.New}
		if c, ok := fresh.(io.Closer); ok {
			errs = append(errs, c.Close)
		}
	}
	return all, func() {
		t.Helper()
		var err error
		for _, end := range errs {
			err = errors.Join(err, end())
		}
		Must(t, err)
	}
}
