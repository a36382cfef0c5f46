package history

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// judgeWithin is the timeout of the check for linearizability.
const judgeWithin = 90 * time.Second

// linearize checks that a history is linearizable.
func linearize(model porcupine.Model, all []porcupine.Operation) (breaches []string) {
	switch porcupine.CheckOperationsTimeout(model, all, judgeWithin) {
	case porcupine.Illegal:
		return []string{"there is no order in which all of this can have happened"}
	case porcupine.Unknown:
		return []string{fmt.Sprintf("no order was found in %s", judgeWithin)}
	}
	return nil
}

// partitionBy returns a function that partitions a history by key. Each partition is checked on its
// own.
func partitionBy[K comparable](key func(porcupine.Operation) K) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(all []porcupine.Operation) [][]porcupine.Operation {
		parts := map[K][]porcupine.Operation{}
		for _, op := range all {
			parts[key(op)] = append(parts[key(op)], op)
		}
		return slices.Collect(maps.Values(parts))
	}
}
