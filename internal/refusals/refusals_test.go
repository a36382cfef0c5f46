package refusals

import (
	"testing"

	"fiveways/internal/refusals/refusalstest"
)

// A sentinel that is exported and has no row here would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	names := refusalstest.Sentinels(t, "../broker/errors.go", 10)
	for _, row := range rows {
		delete(names, row.err.Error())
	}
	for _, name := range names {
		t.Errorf("%s has no row", name)
	}
}
