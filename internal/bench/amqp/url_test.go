package amqp

import "testing"

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]target{
		"amqp://":                      {"127.0.0.1:5672", "guest", "guest", "/"},
		"amqp://broker":                {"broker:5672", "guest", "guest", "/"},
		"amqp://u:p%40@[::1]:99/":      {"[::1]:99", "u", "p@", "/"},
		"amqp://u:p@h:1/%2Fa%2Fb":      {"h:1", "u", "p", "/a/b"},
		"amqp://127.0.0.1:5673/orders": {"127.0.0.1:5673", "guest", "guest", "orders"},
	} {
		if got, err := parseURL(raw); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"http://h", "h:5672", "amqp://h:port", "amqps://h"} {
		if got, err := parseURL(raw); err == nil {
			t.Errorf("%s: accepted as %+v", raw, got)
		}
	}
}
