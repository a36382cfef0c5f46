package sqlschema

import (
	"testing"

	"fiveways/test/postgres"
)

func TestInstallTwice(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	for _, before := range []int{0, Version} {
		r, err := Install(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		if r.Before != before || r.Database != "fiveways" {
			t.Errorf("report %+v, want version %d before", r, before)
		}
	}
}
