package command

import (
	"errors"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/amqperr/amqperrtest"
	"fiveways.dev/fiveways/internal/core/failure"
)

// TestEverySentinelHasARow checks that every exported sentinel error has a row. Without one it
// would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	names := amqperrtest.Sentinels(t, "../../../core/failure/errors.go", 10)
	for _, row := range errorRows {
		delete(names, row.err.Error())
		code, text, _ := strings.Cut(string(row.text), " ")
		if code == "" || strings.ToUpper(code) != code || text == "" {
			t.Errorf("%q is not a code and a text", row.text)
		}
	}
	for _, name := range names {
		t.Errorf("broker.%s has no row in errorRows", name)
	}
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{ErrSyntax, "ERR syntax error"},
		{&failure.Error{Err: failure.ErrRejected, Kind: "queue", Name: "q"}, "ERR queue 'q' is full"},
		{&failure.Error{Err: failure.ErrAccessRefused, Kind: "queue", Name: "q"}, string(ErrNoPermKey)},
		{errors.New("what nobody thought of"), "ERR internal error"},
	} {
		if got := Text(tc.err); got != tc.want {
			t.Errorf("%v: %q", tc.err, got)
		}
	}
}
