package grpcwire

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// piped returns a raw client of a connection in a synctest bubble.
func piped(t *testing.T, o Options) (r *raw, gone <-chan struct{}) {
	srv := New(o)
	testpb.RegisterTestServiceServer(srv, &service{})
	ours, theirs := net.Pipe()
	r = rawOn(t, theirs)
	session := srv.Session(ours, 1, nil)
	ended := make(chan struct{})
	go func() {
		session.Serve()
		close(ended)
	}()
	return r, ended
}

// reading reads until the connection ends, which closes ended. It passes each frame to seen.
func reading(r *raw, seen func(http2.Frame)) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			f, err := r.fr.ReadFrame()
			if err != nil {
				return
			}
			seen(f)
		}
	}()
	return done
}

// pong answers a ping.
func (r *raw) pong(p *http2.PingFrame) {
	go r.nc.Write(appendFrame(nil, http2.FramePing, http2.FlagPingAck, 0, p.Data[:]...)) //nolint:errcheck // the pipe may be closed
}

// TestPingClient checks that a silent client gets a ping, and that its connection is closed without
// an answer.
func TestPingClient(t *testing.T) {
	for _, answers := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			r, gone := piped(t, Options{PingEvery: time.Minute, PingTimeout: 10 * time.Second})
			begun := time.Now()
			pings := 0
			ended := reading(r, func(f http2.Frame) {
				p, ok := f.(*http2.PingFrame)
				if !ok {
					return
				}
				if pings++; pings <= answers {
					r.pong(p)
				}
			})
			r.write([]byte(http2.ClientPreface))
			r.ok(r.fr.WriteSettings())
			<-gone
			<-ended
			if pings != answers+1 {
				t.Errorf("%d pings, %d of them answered", pings, answers)
			}
			if d := time.Since(begun); d < time.Minute || d > time.Duration(2*answers+3)*time.Minute {
				t.Errorf("the connection ended after %v", d)
			}
		})
	}
}

// TestIdle checks that a client without calls gets a GOAWAY.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, gone := piped(t, Options{MaxIdle: time.Minute, PingEvery: -1, MessageTimeout: time.Hour}) // the call's message comes late
		begun := time.Now()
		farewells := 0
		ended := reading(r, func(f http2.Frame) {
			switch f := f.(type) {
			case *http2.GoAwayFrame:
				farewells++
			case *http2.PingFrame:
				r.pong(f)
			case *http2.HeadersFrame:
				begun = time.Now()
			}
		})
		r.write([]byte(http2.ClientPreface))
		r.ok(r.fr.WriteSettings())
		r.headers(1, false, with()...)
		time.Sleep(3 * time.Minute) // a call is open all this time
		select {
		case <-gone:
			t.Fatal("ended with a call open")
		default:
		}
		r.ok(r.fr.WriteData(1, true, message5(0, nil)))
		<-gone
		<-ended
		if d := time.Since(begun); d < time.Minute || d > 2*time.Minute || farewells != 2 {
			t.Errorf("ended after %v with %d farewells", d, farewells)
		}
	})
}

// TestSlowHandshake checks that the connection is closed if the client sends nothing, or too
// little.
func TestSlowHandshake(t *testing.T) {
	for _, start := range []string{"", "PRI", http2.ClientPreface, http2.ClientPreface + "\x00\x00"} {
		synctest.Test(t, func(t *testing.T) {
			r, gone := piped(t, Options{HandshakeTimeout: 5 * time.Second})
			go io.Copy(io.Discard, r.nc) //nolint:errcheck // it ends with the pipe
			begun := time.Now()
			if start != "" {
				r.write([]byte(start))
			}
			<-gone
			if d := time.Since(begun); d != 5*time.Second {
				t.Errorf("%q: ended after %v", start, d)
			}
		})
	}
}

// TestStuckClient checks that the connection of a client that does not read is closed.
func TestStuckClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, gone := piped(t, Options{WriteTimeout: 30 * time.Second})
		go func() {
			r.nc.Write([]byte(http2.ClientPreface)) //nolint:errcheck // the server may close
			r.fr.WriteSettings()                    //nolint:errcheck // as above
		}()
		begun := time.Now()
		<-gone
		if d := time.Since(begun); d < 15*time.Second || d > 30*time.Second {
			t.Errorf("ended after %v", d)
		}
		r.nc.Close()
	})
}

// TestManyPings checks grpc-go's rule: three pings too many end the connection, unless the server
// sent something in between.
func TestManyPings(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   time.Duration
		call    bool // a call is open
		without bool // Options.PingsWithoutStreams
		want    int  // pings answered before the GOAWAY; 0: all
	}{
		{"seldom, no call", 3 * time.Hour, false, false, 0},
		{"often, no call", time.Hour, false, false, 4},
		{"often enough, no call, allowed", time.Hour, false, true, 0},
		{"too often, allowed", time.Second, false, true, 4},
		{"seldom, with a call", 2 * time.Minute, true, false, 0},
		{"too often, with a call", time.Second, true, false, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, gone := piped(t, Options{MinPing: time.Minute, PingsWithoutStreams: c.without, PingEvery: -1})
				answers, farewell := 0, ""
				ended := reading(r, func(f http2.Frame) {
					switch f := f.(type) {
					case *http2.PingFrame:
						answers++
					case *http2.GoAwayFrame:
						farewell = f.ErrCode.String() + " " + string(f.DebugData())
					}
				})
				r.write([]byte(http2.ClientPreface))
				r.ok(r.fr.WriteSettings())
				if c.call {
					r.headers(1, false, with(":path", holdPath)...)
				}
				for range 8 {
					if r.fr.WritePing(false, [8]byte{}) != nil {
						break
					}
					time.Sleep(c.every)
				}
				r.nc.Close()
				<-gone
				<-ended
				want := 8
				if c.want > 0 {
					want = c.want
				}
				if answers != want || (farewell == "ENHANCE_YOUR_CALM too_many_pings") != (c.want > 0) {
					t.Errorf("%d answers, farewell %q", answers, farewell)
				}
			})
		})
	}
}

// TestAckWaits checks that the answer to a ping leaves at once if no call is open, and otherwise
// with the next frame or after a short delay.
func TestAckWaits(t *testing.T) {
	const answer, never = time.Millisecond, time.Hour
	for _, c := range []struct {
		name   string
		call   bool
		answer time.Duration // delay of the call's answer
		want   time.Duration
	}{
		{"no call", false, never, 0}, {"a call", true, never, ackWait}, {"a call that is answered", true, answer, answer},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := New(Options{})
				release := make(chan struct{})
				testpb.RegisterTestServiceServer(srv, &service{release: release})
				ours, theirs := net.Pipe()
				r, served := rawOn(t, theirs), make(chan struct{})
				go func() {
					srv.Session(ours, 1, nil).Serve()
					close(served)
				}()
				acked := make(chan time.Time, 10)
				ended := reading(r, func(f http2.Frame) {
					if _, ok := f.(*http2.PingFrame); ok {
						acked <- time.Now()
					}
				})
				r.write([]byte(http2.ClientPreface))
				r.ok(r.fr.WriteSettings())
				if c.call {
					r.headers(1, false, with("do", "hold")...)
					r.ok(r.fr.WriteData(1, true, message5(0, nil)))
				}
				for range 2 { // the second round reuses the timer of the first
					synctest.Wait()
					asked := time.Now()
					r.ok(r.fr.WritePing(false, [8]byte{}))
					if c.answer != never {
						time.Sleep(c.answer)
						close(release)
						c.answer = never
					}
					if d := (<-acked).Sub(asked); d != c.want {
						t.Errorf("answered after %v", d)
					}
					if c.want = min(c.want, ackWait); c.name == "a call that is answered" {
						c.want = 0
					}
				}
				r.nc.Close()
				<-served
				<-ended
			})
		})
	}
}
