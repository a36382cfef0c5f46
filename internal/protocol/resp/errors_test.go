package resp

import (
	"errors"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/refusals/refusalstest"
)

// A sentinel that is exported and has no row here would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	names := refusalstest.Sentinels(t, "../../broker/errors.go", 10)
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
		{errSyntax, "ERR syntax error"},
		{&broker.Error{Err: broker.ErrRejected, Kind: "queue", Name: "q"}, "ERR queue 'q' is full"},
		{&broker.Error{Err: broker.ErrAccessRefused, Kind: "queue", Name: "q"}, string(errNoPermKey)},
		{errors.New("what nobody thought of"), "ERR internal error"},
	} {
		if got := errorText(tc.err); got != tc.want {
			t.Errorf("%v: %q", tc.err, got)
		}
	}
}
