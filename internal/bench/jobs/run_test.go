package jobs

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/redisd"
)

func quick(address string) Options {
	o := DefaultOptions()
	o.URL = "redis://" + address
	o.Connections, o.Depths, o.Backlog, o.Repetitions, o.Duration = []int{2}, []int{1, 7}, 500, 1, 100*time.Millisecond
	return o
}

func TestLoadsOfScriptsOnARedis(t *testing.T) {
	address := redisd.Start(t, redisd.Options{Sync: "everysec"})
	o := quick(address)
	o.Against = "redis://" + address + "/1"
	var told []string
	r, err := Run(t.Context(), o, func(l Load) { told = append(told, l.Name) })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, " "); got != "enqueue enqueue work work cycle cycle list list wire wire" {
		t.Errorf("told of %q", got)
	}
	for _, l := range r.Loads {
		for i, s := range l.Servers {
			// Loads that take get at most what was enqueued, and stop when they have got all of it.
			if s.PerSecond <= 0 || s.P50 <= 0 || s.P99 < s.P50 || len(s.Runs) != 1 {
				t.Errorf("%s on server %d: %+v", l.Name, i, s)
			}
		}
		if l.Ratio <= 0 {
			t.Errorf("%s: ratio %v", l.Name, l.Ratio)
		}
	}
	for _, s := range r.Servers {
		if !strings.HasPrefix(s, "Redis ") || !strings.HasSuffix(s, "appendonly yes, appendfsync everysec") {
			t.Errorf("server %q", s)
		}
	}
	for _, database := range []string{"0", "1"} {
		if n := keysOf(t, address, database); n != "0" {
			t.Errorf("%s keys are left in database %s", n, database)
		}
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "A/B") {
		t.Errorf("%v, %s", err, text.String())
	}
}

func keysOf(t *testing.T, address, database string) string {
	t.Helper()
	c, err := dial(&url.URL{Host: address, Path: "/" + database})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	n, err := c.ask("DBSIZE")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWorkCountsWhatThereIs checks that work handles exactly the backlog, and then ends.
func TestWorkCountsWhatThereIs(t *testing.T) {
	o := quick(redisd.Start(t, redisd.Options{}))
	o.Duration = time.Minute
	r, err := Measure(t.Context(), o, o.URL, "work", 3, 7)
	if err != nil || r.Jobs != 500 {
		t.Errorf("%d jobs, %v", r.Jobs, err)
	}
}

func TestInterruptedRunRemovesItsQueue(t *testing.T) {
	address := redisd.Start(t, redisd.Options{})
	o := quick(address)
	o.Loads, o.Duration = []string{"enqueue"}, time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, o, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if n := keysOf(t, address, "0"); n != "0" {
		t.Errorf("%s keys are left", n)
	}
}

// TestRepliesInPieces checks that a reply may arrive byte by byte, and exceed the buffer.
func TestRepliesInPieces(t *testing.T) {
	long := strings.Repeat("y", 3*bufferBytes)
	stream := "+OK\r\n:-12\r\n$-1\r\n*-1\r\n*3\r\n$2\r\na\n\r\n*1\r\n:7\r\n+x\r\n$" + "196608\r\n" + long + "\r\n-ERR no\r\n$5\r\nafter\r\n"
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		rest := []byte(stream)
		for size := 1; len(rest) > 0; size = 1 { // the long reply in larger pieces
			if len(rest) < len(stream)-100 && len(rest) > 100 {
				size = min(5000, len(rest)-100)
			}
			there.Write(rest[:size]) //nolint:errcheck // the reader notices missing data
			rest = rest[size:]
		}
		there.Close()
	}()
	c := &conn{net: here, in: make([]byte, bufferBytes)}
	for i := range 5 {
		if err := c.skip(); err != nil {
			t.Fatalf("reply %d: %v", i, err)
		}
	}
	if got, err := c.text(); err != nil || got != long {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := c.skip(); !errors.Is(err, ErrReply) || !strings.Contains(err.Error(), "ERR no") {
		t.Errorf("got %v", err)
	}
	if got, err := c.text(); err != nil || got != "after" {
		t.Errorf("%q, %v", got, err)
	}
	if err := c.skip(); err == nil {
		t.Error("a reply after the end")
	}
}

func TestInvalidOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"connections is 0":         func(o *Options) { o.Connections = []int{0} },
		"no number of connections": func(o *Options) { o.Connections = nil },
		"depth is 0":               func(o *Options) { o.Depths = []int{0} },
		"no depth":                 func(o *Options) { o.Depths = nil },
		`there is no load "drink"`: func(o *Options) { o.Loads = []string{"drink"} },
		"no load is named":         func(o *Options) { o.Loads = nil },
		`"http://x" is no URL`:     func(o *Options) { o.URL = "http://x" },
		`"y" is no URL`:            func(o *Options) { o.Against = "y" },
		"backlog is 0":             func(o *Options) { o.Backlog = 0 },
		"repetitions is 0":         func(o *Options) { o.Repetitions = 0 },
		"duration is 0s":           func(o *Options) { o.Duration = 0 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Run(t.Context(), o, nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestResultKeepsNoPassword(t *testing.T) {
	o := DefaultOptions()
	o.URL, o.Against = "redis://me:secret@h", "redis://:secret@h/1"
	if r := newResult(o); strings.Contains(r.Options.URL+r.Options.Against, "secret") {
		t.Errorf("%+v", r.Options)
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{3: {3}, 4: {5, 3}, 5: {9, 5, 1}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: %v", values, got)
		}
	}
}
