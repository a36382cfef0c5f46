package history

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// judgeWithin is how long may be looked for an order of the requests.
const judgeWithin = 90 * time.Second

// linearize looks for an order in which all operations can have happened.
func linearize(model porcupine.Model, all []porcupine.Operation) (breaches []string) {
	switch porcupine.CheckOperationsTimeout(model, all, judgeWithin) {
	case porcupine.Illegal:
		return []string{"there is no order in which all of this can have happened"}
	case porcupine.Unknown:
		return []string{fmt.Sprintf("no order was found in %s", judgeWithin)}
	}
	return nil
}

// partitionBy splits a history into those of what key names, each of which is checked alone.
func partitionBy[K comparable](key func(porcupine.Operation) K) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(all []porcupine.Operation) [][]porcupine.Operation {
		parts := map[K][]porcupine.Operation{}
		for _, op := range all {
			parts[key(op)] = append(parts[key(op)], op)
		}
		return slices.Collect(maps.Values(parts))
	}
}
