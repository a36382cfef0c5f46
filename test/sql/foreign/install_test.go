package foreign

import (
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/brokertest"
)

// TestInstallIntoTheBroker checks that an installation into the broker instead of a PostgreSQL is
// rejected without effect.
func TestInstallIntoTheBroker(t *testing.T) {
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--sync", "os")
	if _, err := sqlschema.Install(t.Context(), fmt.Sprintf("postgres://guest@%s/fiveways?sslmode=disable", b.SQLAddr())); !errors.Is(err, sqlschema.ErrBroker) {
		t.Errorf("%v, want %v", err, sqlschema.ErrBroker)
	}
}
