package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type text struct {
	p                  *string
	minBytes, maxBytes int
}

func (v *text) String() string { return *v.p }
func (v *text) Type() string   { return "text" }
func (v *text) Set(s string) error {
	if len(s) < v.minBytes || len(s) > v.maxBytes {
		return fmt.Errorf("%q has the wrong length; use %d to %d bytes of text", s, v.minBytes, v.maxBytes)
	}
	*v.p = s
	return nil
}

// version is a version of three numbers. Clients split it at the dots and compare the numbers, so
// nothing may follow them.
type version struct{ p *string }

var versionForm = regexp.MustCompile(`^\d{1,9}\.\d{1,9}\.\d{1,9}$`)

func (v *version) String() string { return *v.p }
func (v *version) Type() string   { return "version" }
func (v *version) Set(s string) error {
	if !versionForm.MatchString(s) {
		return fmt.Errorf("%q is not a version like 3.10.8", s)
	}
	*v.p = s
	return nil
}

type choice struct {
	p       *string
	allowed []string
}

func (v *choice) String() string { return *v.p }
func (v *choice) Type() string   { return strings.Join(v.allowed, "|") }
func (v *choice) Set(s string) error {
	if !slices.Contains(v.allowed, s) {
		return fmt.Errorf("%q is not one of %s", s, strings.Join(v.allowed, ", "))
	}
	*v.p = s
	return nil
}

// path is the name of a file, or empty.
type path struct{ p *string }

func (v *path) String() string { return *v.p }
func (v *path) Type() string   { return "file" }
func (v *path) Set(s string) error {
	if len(s) > 4096 {
		return errors.New("the path is longer than 4096 bytes")
	}
	*v.p = s
	return nil
}

// endpoint is the URL of an external service, or Off.
type endpoint struct{ p *string }

func (v *endpoint) String() string { return *v.p }
func (v *endpoint) Type() string   { return "URL" }
func (v *endpoint) Set(s string) error {
	if s != Off {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return fmt.Errorf("%q is not an address such as http://127.0.0.1:4318 (without a login), nor off", s)
		}
	}
	*v.p = s
	return nil
}

// address is one "host:port" with a numeric port, or several separated by commas, or Off.
type address struct{ p *string }

func (v *address) String() string { return *v.p }
func (v *address) Type() string   { return "host:port" }
func (v *address) Set(s string) error {
	if s != Off {
		for _, one := range strings.Split(s, ",") {
			if !isHostPort(strings.TrimSpace(one)) {
				return fmt.Errorf("%q is not an address; give host:port with a port from 0 (any free one) to 65535, such as 127.0.0.1:5672, several with commas, or %q", one, Off)
			}
		}
	}
	*v.p = s
	return nil
}

// isHostPort reports whether s is host:port with a numeric port.
func isHostPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// single is one "host:port", or the word for none.
type single struct {
	p    *string
	none string
}

func (v *single) String() string { return *v.p }
func (v *single) Type() string   { return "host:port" }
func (v *single) Set(s string) error {
	if s != v.none && !isHostPort(s) {
		return fmt.Errorf("%q is not one host:port with a numeric port, such as 10.0.0.1:5680", s)
	}
	*v.p = s
	return nil
}

// addresses splits a list of addresses.
func addresses(s string) (list []string) {
	if s == Off {
		return nil
	}
	for _, one := range strings.Split(s, ",") {
		list = append(list, strings.TrimSpace(one))
	}
	return list
}

// hasPortZero reports whether the system chooses the port, so that equal addresses do not conflict.
func hasPortZero(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	n, perr := strconv.ParseUint(port, 10, 16)
	return err == nil && perr == nil && n == 0
}

type integer struct {
	p        *int
	min, max int
}

func (v *integer) String() string { return strconv.Itoa(*v.p) }
func (v *integer) Type() string   { return "number" }
func (v *integer) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.min || n > v.max {
		return fmt.Errorf("%q is not a whole number from %d to %d", s, v.min, v.max)
	}
	*v.p = n
	return nil
}

// duration is a Go duration that is a multiple of unit.
type duration struct {
	p        *time.Duration
	min, max time.Duration
	unit     time.Duration
}

func (v *duration) String() string { return v.p.String() }
func (v *duration) Type() string   { return "duration" }
func (v *duration) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < v.min || d > v.max || d%v.unit != 0 {
		whole := ""
		if v.unit > 1 {
			whole = ", in steps of " + v.unit.String()
		}
		return fmt.Errorf("%q is not a duration from %s to %s%s; write it like 5ms or 30s", s, v.min, v.max, whole)
	}
	*v.p = d
	return nil
}

type size struct {
	p        *int64
	min, max int64
}

func (v *size) String() string { return FormatSize(*v.p) }
func (v *size) Type() string   { return "size" }
func (v *size) Set(s string) error {
	n, err := ParseSize(s)
	if err != nil || n < v.min || n > v.max {
		limit := "from " + FormatSize(v.min)
		if v.max != maxSize {
			limit += " to " + FormatSize(v.max)
		}
		return fmt.Errorf("%q is not a size %s; write it like 64KiB, 512MiB or 2GiB", s, limit)
	}
	*v.p = n
	return nil
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {"", 1}}

var errSize = errors.New("config: not a size in bytes")

// ParseSize parses a whole number of bytes with an optional unit: B, kB, MB, GB, TB (powers of
// 1000) or KiB, MiB, GiB, TiB (powers of 1024).
func ParseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			return 0, errSize
		}
		return n * u.bytes, nil
	}
	return 0, errSize
}

// FormatSize formats n bytes with the largest binary unit that divides n, so that ParseSize returns
// exactly n.
func FormatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
