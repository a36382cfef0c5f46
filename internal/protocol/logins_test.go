package protocol

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func from(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1000} }

// try makes an attempt that is checked at once, and returns how long it was held back.
func try(t *testing.T, l *Logins, at Attempt, ok bool) (held time.Duration, err error) {
	t.Helper()
	began := time.Now()
	done, err := l.Begin(nil, at)
	if err == nil {
		done(ok)
	}
	return time.Since(began), err
}

func TestLoginsAreHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLogins(nil, nil)
		guess := Attempt{"http", "alice", from("192.0.2.1")}
		for i, want := range []time.Duration{0, 0, 0, 0, 0, 1, 2, 4, 5, 5} {
			if held, err := try(t, l, guess, false); err != nil || held != want*time.Second {
				t.Errorf("attempt %d held for %v, %v; want %v", i, held, err, want*time.Second)
			}
		}
		for _, tc := range []struct {
			name string
			at   Attempt
			held bool
		}{
			{"another protocol", Attempt{"sql", "alice", from("192.0.2.1")}, true},
			{"another port", Attempt{"http", "alice", &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 9}}, true},
			{"another user", Attempt{"http", "bob", from("192.0.2.1")}, false},
			{"another address", Attempt{"http", "alice", from("192.0.2.2")}, false},
		} {
			if held, err := try(t, l, tc.at, true); err != nil || held > 0 != tc.held {
				t.Errorf("%s: held for %v, %v", tc.name, held, err)
			}
			if tc.held { // the success reset the count; fail again
				for range 6 {
					try(t, l, guess, false)
				}
			}
		}
	})
}

// TestLoginsStandInLine checks that many connections at a time get no more guesses than one.
func TestLoginsStandInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLogins(nil, nil)
		guess := Attempt{"amqp091", "alice", from("2001:db8::1")}
		for range freeFailures {
			try(t, l, guess, false)
		}
		checked := make(chan bool, 1000)
		for i := range 1000 {
			at := Attempt{"amqp091", "alice", from(fmt.Sprintf("2001:db8::%x", i+1))} // the same network
			go func() {
				done, err := l.Begin(nil, at)
				if err == nil {
					done(false)
				}
				checked <- err == nil
			}()
		}
		n := 0
		for range 1000 {
			if <-checked {
				n++
			}
		}
		if n > 6 {
			t.Errorf("%d guesses were checked within some seconds", n)
		}
	})
}

func TestLoginsOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLogins(nil, nil)
		known := Attempt{"http", "tool", from("127.0.0.1")}
		try(t, l, known, true)
		for i := range freeAtAddress {
			try(t, l, Attempt{"http", fmt.Sprint("user", i), from("127.0.0.1")}, false)
		}
		if held, _ := try(t, l, Attempt{"http", "new", from("127.0.0.1")}, true); held == 0 {
			t.Error("a guesser of names is not held back")
		}
		if held, _ := try(t, l, known, true); held != 0 {
			t.Errorf("who logged in before is held back for %v", held)
		}
		<-time.After(memoryOfLogins + time.Second)
		if held, _ := try(t, l, Attempt{"http", "newer", from("127.0.0.1")}, false); held != 0 {
			t.Errorf("held back for %v long after", held)
		}
	})
}

func TestLoginGivenUp(t *testing.T) {
	l := NewLogins(nil, nil)
	guess := Attempt{"redis", "alice", from("192.0.2.1")}
	for range freeFailures + 3 {
		l.note(guess, false)
	}
	gone := make(chan struct{})
	close(gone)
	if _, err := l.Begin(gone, guess); !errors.Is(err, ErrHeldBack) {
		t.Errorf("%v", err)
	}
}

func TestAttempts(t *testing.T) {
	l := NewLogins(nil, nil)
	for i := range 2 * mostSources {
		l.note(Attempt{"etcd", fmt.Sprint("u", i), from("192.0.2.1")}, false)
	}
	l.note(Attempt{"http", "alice", from("192.0.2.1")}, true)
	if got := fmt.Sprint(l.Attempts()); got != fmt.Sprintf("[{etcd   0 %d 0} {http   1 0 0}]", 2*mostSources) {
		t.Error(got)
	}
	all := l.Sources()
	if len(all) > mostSources || all[0] != (Tally{Protocol: "http", Address: "192.0.2.1", User: "alice", Succeeded: 1}) {
		t.Errorf("%d sources, first %v", len(all), all[0])
	}
	if l.ResetSources(); len(l.Sources()) != 0 || len(l.Attempts()) != 2 {
		t.Error("sources are there, or protocols are not")
	}
	if l.Reset(); len(l.Attempts()) != 0 {
		t.Error("attempts are there")
	}
}

// TestFailing checks that Failing lists users that fail now: none that have logged in since, and no
// old failures.
func TestFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLogins(nil, nil)
		for range 4 {
			l.note(Attempt{"amqp091", "alice", from("192.0.2.1")}, false)
		}
		l.note(Attempt{"http", "bob", from("192.0.2.2")}, false)
		l.note(Attempt{"http", "carol", from("192.0.2.2")}, false)
		l.note(Attempt{"http", "carol", from("192.0.2.2")}, true)
		now := time.Now()
		want := []Failing{{"192.0.2.1", "alice", 4, now}, {"192.0.2.2", "bob", 1, now}}
		if got := l.Failing(); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		<-time.After(memoryOfLogins + time.Second)
		if got := l.Failing(); len(got) > 0 {
			t.Errorf("long after: %+v", got)
		}
	})
}
