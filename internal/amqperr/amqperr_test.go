package amqperr

import (
	"testing"

	"fiveways.dev/fiveways/internal/amqperr/amqperrtest"
)

// A sentinel that is exported and has no row here would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	names := amqperrtest.Sentinels(t, "../core/failure/errors.go", 10)
	for _, row := range rows {
		delete(names, row.err.Error())
	}
	for _, name := range names {
		t.Errorf("%s has no row", name)
	}
}
