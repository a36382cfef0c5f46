package amqp

import (
	"testing"

	"fiveways.dev/fiveways/internal/declareargs"
)

func TestExpiration(t *testing.T) {
	for in, want := range map[string]string{
		"0": "", "60000": "", "+5": "",
		"":                     "invalid expiration '': no_integer",
		"abc":                  "invalid expiration 'abc': no_integer",
		"--5":                  "invalid expiration '--5': no_integer",
		"10x":                  `invalid expiration '10x': {leftover_string,"x"}`,
		"-1":                   "invalid expiration '-1': {value_negative,-1}",
		"-01":                  "invalid expiration '-01': {value_negative,-1}",
		"315360000000":         "",
		"315360000001":         "invalid expiration '315360000001': {value_too_large,315360000001}",
		"99999999999999999999": "invalid expiration '99999999999999999999': {value_too_large,99999999999999999999}",
	} {
		n, err := expiration([]byte(in))
		if n < 0 || n > declareargs.MaxExpiry {
			t.Errorf("%q: %d ms", in, n)
		}
		got := ""
		if err != nil {
			got = faultOf(err).text
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
