package config

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "17": 17, "17B": 17, "3kB": 3000, "3KiB": 3072, "512MiB": 512 << 20, "2 GiB": 2 << 30, "1TB": 1e12} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "B", "-1", "1.5GiB", "9999999TiB", "12 apples", "1mib"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

// Clients of RabbitMQ split the version at its dots and parse the parts as numbers.
func TestVersionIsThreeNumbers(t *testing.T) {
	c := Default()
	v := &version{&c.RabbitMQVersion}
	if err := v.Set("3.12.14"); err != nil || c.RabbitMQVersion != "3.12.14" {
		t.Errorf("3.12.14: %q, %v", c.RabbitMQVersion, err)
	}
	for _, in := range []string{"", "3", "3.12", "v3.12.0", "3.12.0-rc.1", "3.12.0.1", "16dcefc", "3..1", "9999999999.0.0"} {
		if v.Set(in) == nil {
			t.Errorf("%q is taken for a version", in)
		}
	}
}

func TestFormatSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		if shift := rapid.IntRange(0, 44).Draw(t, "shift"); n<<shift>>shift == n {
			n <<= shift
		}
		if got, err := ParseSize(FormatSize(n)); err != nil || got != n {
			t.Fatalf("%d -> %s -> %d, %v", n, FormatSize(n), got, err)
		}
	})
}

func TestNearest(t *testing.T) {
	for in, want := range map[string]string{"amqpp": "amqp", "log_levl": "log_level", "zzz": "", "max_conections": "max_connections"} {
		if got := Nearest(in, keys()); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
