package soak

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

// standIn is a script that looks like a broker that serves, and stops on request.
const standIn = `#!/bin/sh
trap 'exit 0' TERM
echo "amqp      127.0.0.1:4567"
echo "Stop with Ctrl-C or SIGTERM."
while :; do sleep 0.01; done
`

// sharing returns a broker that this many loads share. It has kills lives that are to be killed at
// once.
func sharing(t *testing.T, loads, kills int) *shared {
	t.Helper()
	path := filepath.Join(t.TempDir(), "standin")
	must(t, os.WriteFile(path, []byte(standIn), 0o755))
	return &shared{
		loads: loads, lives: make([]time.Duration, kills),
		start: func() (*brokertest.Broker, error) {
			return brokertest.StartBinary(context.Background(), path, t.TempDir())
		},
		begun: func(b *brokertest.Broker) *company { return enter(t, b, nil) },
	}
}

func TestLoadsShareALife(t *testing.T) {
	s := sharing(t, 2, 1)
	one, other := s.up(t, "a"), s.up(t, "b")
	first, second := one(), other()
	if first.(*visit).life != second.(*visit).life {
		t.Error("two loads have two lives")
	}
	if first.URL() != "amqp://guest:guest@127.0.0.1:4567/a" || second.URL() != "amqp://guest:guest@127.0.0.1:4567/b" {
		t.Errorf("URLs %s, %s", first.URL(), second.URL())
	}
	<-first.(*visit).Due()
	killed := make(chan struct{})
	go func() {
		first.Kill()
		close(killed)
	}()
	select {
	case <-killed:
		t.Error("one load killed the broker under the other")
	case <-first.Exited():
		t.Error("the broker ended when one load was done")
	case <-time.After(50 * time.Millisecond):
	}
	second.Kill()
	<-killed
	<-first.Exited()

	last := []loads.Broker{one(), other()}
	stopped := make(chan error, 1)
	go func() { stopped <- last[0].Stop() }()
	if err := last[1].Stop(); err != nil {
		t.Error(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	last[0].Kill() // as a load does when it leaves
}

// TestLoadsLeave checks that the other loads continue when one has failed.
func TestLoadsLeave(t *testing.T) {
	s := sharing(t, 3, 0)
	up := s.up(t, "%2f")
	first, second := up(), up()
	stopped := make(chan error, 2)
	go func() { stopped <- first.Stop() }()
	go func() { stopped <- second.Stop() }()
	s.leave()
	for range 2 {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
}
