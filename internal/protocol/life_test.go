package protocol

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// living returns the life of one end of a pipe, and the other end.
func living() (*Life, net.Conn) {
	ours, theirs := net.Pipe()
	l := new(Life)
	l.Begin(ours, 7)
	return l, theirs
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLifeEndsInTwoSteps(t *testing.T) {
	l, theirs := living()
	l.Leave()
	l.Leave()
	if !isClosed(l.Leaving()) || isClosed(l.Over()) {
		t.Errorf("leaving: %v, over: %v", isClosed(l.Leaving()), isClosed(l.Over()))
	}
	l.Kill()
	l.Kill()
	if !isClosed(l.Over()) {
		t.Error("it is killed and not over")
	}
	if _, err := theirs.Read(make([]byte, 1)); err == nil {
		t.Error("the socket is open")
	}
}

func TestKillLeaves(t *testing.T) {
	l, _ := living()
	if l.Kill(); !isClosed(l.Leaving()) {
		t.Error("who waits is not told of the end")
	}
}

func TestProtect(t *testing.T) {
	l, _ := living()
	var log bytes.Buffer
	user, failures := "", 0
	protect := func(fn func()) {
		l.Protect(slog.New(slog.NewTextHandler(&log, nil)), "it broke", &user, fn, func() { failures++ })
	}
	if protect(func() {}); failures != 0 || log.Len() > 0 {
		t.Errorf("%d failures: %s", failures, &log)
	}
	protect(func() { user = "ann"; panic(errors.New("out of range")) })
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
	for _, want := range []string{"it broke", "conn=7", "user=ann", "out of range", "life_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in %s", want, &log)
		}
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := living()
		began := time.Now()
		if l.Pause(time.Second); time.Since(began) != time.Second {
			t.Errorf("it took %v", time.Since(began))
		}
		time.AfterFunc(time.Second, l.Kill)
		if l.Pause(time.Hour); time.Since(began) != 2*time.Second {
			t.Errorf("it ended after %v", time.Since(began))
		}
	})
}

// TestLinger checks that Linger reads what the client still sends, until the client closes or the
// time is over.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, theirs := living()
		began := time.Now()
		go func() {
			theirs.Write(make([]byte, 10_000)) //nolint:errcheck // it is read, or the test fails
			time.Sleep(time.Second)
			theirs.Close()
		}()
		if l.Linger(time.Minute); time.Since(began) != time.Second {
			t.Errorf("it ended after %v, and not with the client", time.Since(began))
		}
		l, _ = living()
		if l.Linger(time.Minute); time.Since(began) != time.Minute+time.Second {
			t.Errorf("it ended after %v", time.Since(began))
		}
	})
}
