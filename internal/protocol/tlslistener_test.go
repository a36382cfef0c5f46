package protocol

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/logtest"
)

// certificates holds files in memory.
type certificates struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (c *certificates) read(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.files[name]; ok {
		return b, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (c *certificates) put(name string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[name] = b
}

// issue creates a new CA and certificate.
func (c *certificates) issue(t *testing.T, now time.Time) *authority.Authority {
	t.Helper()
	a, err := authority.New("test", now, now.Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Server("localhost")
	if err != nil {
		t.Fatal(err)
	}
	c.put("ca", a.Cert())
	c.put("key", p.Key)
	c.put("cert", p.Cert)
	return a
}

func openTest(t *testing.T, o TLSOptions) (*TLS, *certificates, *authority.Authority) {
	t.Helper()
	c := &certificates{files: map[string][]byte{}}
	a := c.issue(t, time.Now())
	o.Cert, o.Key, o.read = "cert", "key", c.read
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s, err := OpenTLS(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, c, a
}

func trusting(a *authority.Authority) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.Cert())
	return &tls.Config{RootCAs: pool, ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(4)}
}

// welcome serves a mode: it reports how each connection arrived, and echoes a line.
func welcome(t *testing.T, s *TLS, d TLSMode) string {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := s.Listen(plain, d)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				how := "plain "
				if state, ok := StateOf(nc); ok {
					how = "secure " + state.NegotiatedProtocol + " "
				} else if _, fast := nc.(*net.TCPConn); fast {
					how = "plain TCP "
				}
				line, err := bufio.NewReader(nc).ReadString('\n')
				if err == nil {
					io.WriteString(nc, how+line) //nolint:errcheck // the client checks it
				}
			}()
		}
	}()
	return plain.Addr().String()
}

// say sends a line and returns everything that comes back.
func say(t *testing.T, nc net.Conn, line string) string {
	t.Helper()
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(20 * time.Second)) //nolint:errcheck // the read fails as well
	if _, err := io.WriteString(nc, line+"\n"); err != nil {
		return err.Error()
	}
	b, _ := io.ReadAll(nc) // after a reset, what was received is enough
	return string(b)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return nc
}

func TestTLSListener(t *testing.T) {
	anybody, nobody := func(net.Addr) bool { return true }, func(net.Addr) bool { return false }
	for _, tc := range []struct {
		name   string
		plain  func(net.Addr) bool
		mode   TLSMode
		client func(*tls.Config) // nil: plain
		want   string
	}{
		{"TLS", nobody, TLSMode{}, func(*tls.Config) {}, "secure  hello\n"},
		{"TLS with a choice", nobody, TLSMode{ALPN: []string{"http/1.1", "h2"}}, func(c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }, "secure http/1.1 hello\n"},
		{"TLS with h2 alone", nobody, TLSMode{ALPN: []string{"http/1.1", "h2"}}, func(c *tls.Config) { c.NextProtos = []string{"h2"} }, "secure h2 hello\n"},
		{"plain", anybody, TLSMode{}, nil, "plain TCP hello\n"},
		{"plain that may not", nobody, TLSMode{Refusal: []byte("no\n")}, nil, "no\n"},
		{"old TLS", nobody, TLSMode{}, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11; c.MinVersion = tls.VersionTLS10 }, "remote error: tls: protocol version not supported"},
		{"a port that asks", nobody, TLSMode{Ask: func(nc net.Conn) (net.Conn, bool, error) { return Unread(nc, []byte("ahead ")), false, nil }}, nil, "plain ahead hello\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, a := openTest(t, TLSOptions{Plain: tc.plain})
			nc := dial(t, welcome(t, s, tc.mode))
			if tc.client != nil {
				config := trusting(a)
				tc.client(config)
				nc = tls.Client(nc, config)
			}
			if got := say(t, nc, "hello"); got != tc.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestNoTLS(t *testing.T) {
	var none *TLS
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	defer l.Close()
	if none.Listen(l, TLSMode{}) != l || !none.MayBePlain(nil) || none.AsksCertificates() || none.Reload() != nil || !none.Expiry().IsZero() || none.Certificate() != nil {
		t.Error("no certificate is one")
	}
	if none.UserOf(nil) != "" || none.UserIn(nil) != "" {
		t.Error("a user without a certificate")
	}
}

// TestSilentClient checks that a silent client does not hold up others, and is closed with the
// listener.
func TestSilentClient(t *testing.T) {
	s, _, a := openTest(t, TLSOptions{Handshake: time.Hour})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := s.Listen(plain, TLSMode{})
	silent := dial(t, plain.Addr().String())
	defer silent.Close()
	accepted := make(chan error, 1)
	go func() {
		nc, err := l.Accept()
		if err == nil {
			nc.Close()
		}
		accepted <- err
	}()
	c, err := tls.Dial("tcp", plain.Addr().String(), trusting(a))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent one is still open")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestPlainClientThatWaits checks that a plain client that is silent at first is handed over, where
// plain connections are allowed.
func TestPlainClientThatWaits(t *testing.T) {
	for _, may := range []bool{true, false} {
		s, _, _ := openTest(t, TLSOptions{Handshake: time.Millisecond, Plain: func(net.Addr) bool { return may }})
		plain, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := s.Listen(plain, TLSMode{})
		nc := dial(t, plain.Addr().String())
		if may {
			if through, err := l.Accept(); err != nil || through.Close() != nil {
				t.Error(err)
			}
		}
		if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%v: %v", may, err)
		}
		nc.Close()
		l.Close()
	}
}

// TestPendingHandshakes checks that handshakes that never begin do not keep other clients out.
func TestPendingHandshakes(t *testing.T) {
	s, _, a := openTest(t, TLSOptions{Handshakes: 4, Handshake: time.Hour}) // one per address
	addr := welcome(t, s, TLSMode{})
	silent := dial(t, addr)
	defer silent.Close()
	secure, err := tls.Dial("tcp", addr, trusting(a))
	if err != nil {
		t.Fatal(err)
	}
	silent.SetReadDeadline(time.Now().Add(20 * time.Second)) //nolint:errcheck // the read fails as well
	if _, err := silent.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("another client came, and the silent one is there")
	}
	if got := say(t, secure, "hello"); got != "secure  hello\n" {
		t.Errorf("%q", got)
	}
}

func TestReload(t *testing.T) {
	var log logtest.Text
	s, files, before := openTest(t, TLSOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	addr := welcome(t, s, TLSMode{})
	old := tls.Client(dial(t, addr), trusting(before))
	if err := old.Handshake(); err != nil {
		t.Fatal(err)
	}
	after := files.issue(t, time.Now())
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := say(t, tls.Client(dial(t, addr), trusting(after)), "new"); got != "secure  new\n" {
		t.Errorf("%q", got)
	}
	if got := say(t, old, "old"); got != "secure  old\n" {
		t.Errorf("a connection that was open: %q", got)
	}
	if err := tls.Client(dial(t, addr), trusting(before)).Handshake(); err == nil {
		t.Error("the certificate before is shown")
	}
	expiry := s.Expiry()
	for name, broken := range map[string][]byte{"cert": []byte("no certificate"), "key": nil} {
		good, _ := files.read(name)
		files.put(name, broken)
		if err := s.Reload(); !errors.Is(err, ErrTLS) || strings.Contains(err.Error(), "no certificate\n") {
			t.Errorf("%s: %v", name, err)
		}
		files.put(name, good)
	}
	if got := say(t, tls.Client(dial(t, addr), trusting(after)), "still"); got != "secure  still\n" || s.Expiry() != expiry {
		t.Errorf("after a broken one: %q", got)
	}
	if strings.Contains(log.String(), "BEGIN") || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("the log: %s", &log)
	}
}

// TestWatch checks that changed files are noticed, once for each change whatever they contain.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Text
		s, files, _ := openTest(t, TLSOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() { s.Watch(ctx); close(watched) }()
		serial := func() string { return s.Certificate().SerialNumber.String() }
		first := serial()
		time.Sleep(time.Minute)
		files.put("cert", []byte("half a file"))
		time.Sleep(time.Minute)
		if serial() != first || strings.Count(log.String(), "cannot be used") != 1 {
			t.Errorf("the log: %s", &log)
		}
		files.issue(t, time.Now())
		time.Sleep(time.Minute)
		if serial() == first {
			t.Error("the new certificate is not in use")
		}
		stop()
		<-watched
	})
}

func TestExpired(t *testing.T) {
	var log logtest.Text
	openTest(t, TLSOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Clock: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "not valid now") {
		t.Errorf("the log: %s", &log)
	}
}

func TestOpenTLSRefuses(t *testing.T) {
	c := &certificates{files: map[string][]byte{}}
	a := c.issue(t, time.Now())
	other, err := a.Server("other")
	if err != nil {
		t.Fatal(err)
	}
	c.put("other", other.Key)
	c.put("empty", []byte("nothing"))
	for _, tc := range []struct {
		name string
		o    TLSOptions
		want string
	}{
		{"no file", TLSOptions{Cert: "none", Key: "key"}, "none"},
		{"key of another", TLSOptions{Cert: "cert", Key: "other"}, "does not match"},
		{"authorities that are none", TLSOptions{Cert: "cert", Key: "key", ClientCA: "empty"}, "no certificate in PEM form"},
	} {
		tc.o.read, tc.o.Log = c.read, slog.New(slog.DiscardHandler)
		if _, err := OpenTLS(tc.o); !errors.Is(err, ErrTLS) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestInputOverTLS checks that Input reads the same over TLS, and holds no buffer while it waits.
func TestInputOverTLS(t *testing.T) {
	s, _, a := openTest(t, TLSOptions{})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := s.Listen(plain, TLSMode{})
	defer l.Close()
	sent, kicked := bytes.Repeat([]byte("0123456789"), 100_000), make(chan struct{})
	go func() {
		c, err := tls.Dial("tcp", plain.Addr().String(), trusting(a))
		if err == nil {
			<-kicked
			c.Write(sent) //nolint:errcheck // the received data is compared
			c.Close()
		}
	}()
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var in Input
	in.Init(nc)
	in.Kick()
	if err := in.Fill(1); !errors.Is(err, ErrKicked) || len(in.Pending()) != 0 {
		t.Fatalf("kicked: %v", err)
	}
	close(kicked)
	var got []byte
	for {
		if err = in.Fill(1); err != nil {
			break
		}
		got = append(got, in.Pending()...)
		in.Consume(len(in.Pending()))
	}
	if !errors.Is(err, io.EOF) || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
