package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/replica/transport"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// soon returns the time at which tokens in tests expire.
func soon() time.Time { return time.Now().Add(time.Hour) }

// TestJoin checks that a newcomer becomes a peer with its new identity, and can admit others
// itself.
func TestJoin(t *testing.T) {
	id := founded(t, cluster, time.Now())
	h := &host{here: true}
	first := start(t, listen(t), id, h)
	h.add = func(_ context.Context, n Newcomer) (uint64, map[uint64]string, error) {
		members := map[uint64]string{1: first.address, 2: n.Address}
		first.SetPeers(members, 9)
		return 2, members, nil
	}
	ln, dir := listen(t), filepath.Join(t.TempDir(), "cluster")
	w, err := Join(t.Context(), id.Token(first.address, soon())+"\n", ln.Addr().String(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if w.Cluster != cluster || w.Node != 2 || len(w.Addresses) != 2 || w.Addresses[2] != ln.Addr().String() {
		t.Errorf("%+v", w)
	}
	joined, err := Load(dir, w.Cluster, w.Node)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, identityFile)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	second := start(t, ln, joined, &host{here: true, add: func(context.Context, Newcomer) (uint64, map[uint64]string, error) {
		return 3, w.Addresses, nil
	}})
	second.SetPeers(w.Addresses, 9)
	connect(t, first, 2)
	connect(t, second, 1)
	greet(t, first, 1, 2, second)
	greet(t, second, 2, 1, first)

	if w, err = Join(t.Context(), joined.Token(second.address, soon()), "n3:7000", t.TempDir()); err != nil || w.Node != 3 {
		t.Errorf("by the newcomer: %+v, %v", w, err)
	}
	if _, err := id.check(joined.Token(second.address, soon()), time.Now()); err != nil {
		t.Errorf("the newcomer's token: %v", err)
	}
}

// TestWrongTokensOverTheWire checks that an invalid token is rejected before anything else is done,
// that the newcomer learns no details, and that the node logs where it came from.
func TestWrongTokensOverTheWire(t *testing.T) {
	id, other := founded(t, cluster, time.Now()), founded(t, cluster, time.Now())
	for _, tc := range []struct {
		name, token string
		want        error
	}{
		{"altered", altered(id.Token("n1:7000", soon())), ErrToken},
		{"of another cluster", other.Token("n1:7000", soon()), ErrToken},
		{"expired", id.Token("n1:7000", time.Now().Add(-time.Second)), ErrExpired},
		{"expired and altered", altered(id.Token("n1:7000", time.Now().Add(-time.Second))), ErrToken},
		{"none", "", ErrToken},
	} {
		h := &host{here: true}
		n := start(t, listen(t), id, h)
		to := read(t, id.Token(n.address, soon())) // as if it were genuine
		_, err := to.askLeader(t.Context(), &request{token: tc.token})
		if err == nil || err.Error() != tc.want.Error() {
			t.Errorf("%s: %v", tc.name, err)
		}
		if err := <-n.denied; !errors.Is(err, tc.want) || h.asked {
			t.Errorf("%s: %v, the host was asked: %v", tc.name, err, h.asked)
		}
		n.Close()
		if text := n.log.String(); !strings.Contains(text, tc.want.Error()) || !strings.Contains(text, "from=127.0.0.1:") {
			t.Errorf("%s: the log is %s", tc.name, text)
		}
	}
}

// TestRefusals is a table of requests that are refused despite a valid token, with the errors that
// the newcomer gets.
func TestRefusals(t *testing.T) {
	id := founded(t, cluster, time.Now())
	full := func(context.Context, Newcomer) (uint64, map[uint64]string, error) {
		return 0, nil, errors.New("the cluster is full")
	}
	for _, tc := range []struct {
		name   string
		h      *host
		change func(*request)
		want   string
	}{
		{"no leader", &host{}, nil, "the cluster has no leader at the moment"},
		{"not added", &host{here: true, add: full}, nil, "the cluster is full"},
		{"no address", &host{here: true}, func(q *request) { q.address = ":7000" }, "does not say which machine"},
		{"a clock an hour behind", &host{here: true}, func(q *request) { q.clock -= int64(time.Hour) }, "the node that asks to join: its clock is 1h0m0s behind"},
		{"no key", &host{here: true}, func(q *request) { q.csr = nil }, "request for a certificate"},
		{"another's key", &host{here: true}, func(q *request) { q.csr[len(q.csr)-1] ^= 1 }, "request for a certificate"},
	} {
		n := start(t, listen(t), id, tc.h)
		token := id.Token(n.address, soon())
		q, to := asking(t, token), read(t, token)
		if tc.change != nil {
			tc.change(q)
		}
		if _, err := to.askLeader(t.Context(), q); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	dir := t.TempDir()
	if _, err := Join(t.Context(), id.Token("n1:7000", soon()), "n2", dir); err == nil || !strings.Contains(err.Error(), `"n2" is not a host and a port`) {
		t.Errorf("before it asks: %v", err)
	}
	if _, err := Load(dir, cluster, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after all this: %v", err)
	}
}

// TestLostAnswer checks that a node that did not get the answer asks again as the same node, with
// any token, until it has joined. If its key file is damaged, the error names the file.
func TestLostAnswer(t *testing.T) {
	id := founded(t, cluster, time.Now())
	var asked []Newcomer
	h := &host{here: true, add: func(_ context.Context, n Newcomer) (uint64, map[uint64]string, error) {
		if asked = append(asked, n); len(asked) == 1 {
			return 0, nil, errors.New("the answer is lost")
		}
		return 2, map[uint64]string{2: n.Address}, nil
	}}
	n, dir := start(t, listen(t), id, h), filepath.Join(t.TempDir(), "cluster")
	one, other := id.Token(n.address, soon()), id.Token(n.address, soon())
	if _, err := Join(t.Context(), one, "n2:7000", dir); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
	for _, token := range []string{one, other} {
		if _, err := Join(t.Context(), token, "n2:7000", dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, cluster, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Joined(dir), Joined(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), other, "n2:7000", dir); err != nil {
		t.Fatal(err)
	}
	if asked[0].Key != asked[1].Key || asked[1].Key != asked[2].Key || asked[2].Key == asked[3].Key {
		t.Error("the keys of the attempts are not those of one node and of another")
	}
	if asked[0].Token != asked[1].Token || asked[1].Token.ID == asked[2].Token.ID || asked[0].Token != read(t, one) {
		t.Errorf("the tokens are %+v", asked)
	}
	for _, damaged := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if err := os.WriteFile(filepath.Join(dir, joiningFile), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Join(t.Context(), other, "n2:7000", dir); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), joiningFile) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

// TestImpostors is a table of servers that pretend to be a node. Nothing is sent to any of them.
func TestImpostors(t *testing.T) {
	now := time.Now()
	id, other := founded(t, cluster, now), founded(t, cluster, now)
	root := id.root.Raw
	of := func(p authority.Pair, err error) tls.Certificate {
		t.Helper()
		pair, perr := tls.X509KeyPair(p.Cert, p.Key)
		if err != nil || perr != nil {
			t.Fatal(err, perr)
		}
		return pair
	}
	node := func(by *Identity, cluster uint64, now time.Time) tls.Certificate {
		t.Helper()
		file, err := issue(by.authority, cluster, 1, now)
		pair := of(authority.Pair{Cert: file, Key: file}, err)
		pair.Certificate = pair.Certificate[:1]
		return pair
	}
	with := func(pair tls.Certificate, more ...[]byte) tls.Certificate {
		pair.Certificate = append(pair.Certificate, more...)
		return pair
	}
	join := []string{transport.JoinProtocol}
	for _, tc := range []struct {
		name   string
		cert   tls.Certificate
		protos []string
		want   string
	}{
		{"another authority", *other.pair.Load(), join, "another authority"},
		{"the authority beside another's certificate", with(node(other, cluster, now), root), join, "signed by unknown authority"},
		{"no authority", node(id, cluster, now), join, "another authority"},
		{"the authority itself", of(id.authority.Pair(), nil), join, "another cluster"},
		{"another cluster", with(node(id, cluster+1, now), root), join, "another cluster"},
		{"a server", with(of(id.authority.Server(transport.NodeName(cluster, 1)+".example")), root), join, "another cluster"},
		{"a client", with(of(id.authority.Client(transport.NodeName(cluster, 1))), root), join, "incompatible key usage"},
		{"expired", with(node(id, cluster, now.Add(-2*nodeLife)), root), join, "expired"},
		{"a node that admits none", *id.pair.Load(), nil, "admits none"},
	} {
		ln := listen(t)
		sent := make(chan error, 1)
		go func() {
			nc, err := ln.Accept()
			if err != nil {
				sent <- nil
				return
			}
			defer nc.Close()
			conn := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{tc.cert}, NextProtos: tc.protos})
			_, err = conn.Read(make([]byte, 1))
			sent <- err
		}()
		_, err := Join(t.Context(), id.Token(ln.Addr().String(), soon()), "n2:7000", t.TempDir())
		if !errors.Is(err, ErrImpostor) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if <-sent == nil {
			t.Errorf("%s: it was sent something", tc.name)
		}
	}
}

// TestRedirects checks that a newcomer follows redirects to the leader, but not endlessly, and not
// if there is no leader.
func TestRedirects(t *testing.T) {
	id := founded(t, cluster, time.Now())
	h := &host{here: true}
	h.add = func(_ context.Context, n Newcomer) (uint64, map[uint64]string, error) {
		return 2, map[uint64]string{2: n.Address}, nil
	}
	leader, foreign := start(t, listen(t), id, h), start(t, listen(t), founded(t, cluster, time.Now()), h)
	ask := func(ln net.Listener, leader string) (*node, error) {
		n := start(t, ln, id, &host{leader: leader})
		_, err := Join(t.Context(), id.Token(n.address, soon()), "n2:7000", t.TempDir())
		return n, err
	}
	if n, err := ask(listen(t), leader.address); err != nil || <-n.denied != nil {
		t.Error(err)
	}
	ln := listen(t)
	n, err := ask(ln, ln.Addr().String())
	if !errors.Is(err, ErrNoLeader) {
		t.Errorf("a loop: %v", err)
	}
	n.Close()
	if got := len(n.denied); got != 1+mostRedirects {
		t.Errorf("it was asked %d times", got)
	}
	if _, err := ask(listen(t), "nowhere"); !errors.Is(err, ErrMalformed) {
		t.Errorf("no address: %v", err)
	}
	if _, err := ask(listen(t), foreign.address); !errors.Is(err, ErrImpostor) {
		t.Errorf("another cluster: %v", err)
	}
}

// TestNewcomerGoesAway checks that a newcomer that gives up is not added.
func TestNewcomerGoesAway(t *testing.T) {
	id := founded(t, cluster, time.Now())
	ctx, leave := context.WithCancel(t.Context())
	n := start(t, listen(t), id, &host{here: true, add: func(ctx context.Context, _ Newcomer) (uint64, map[uint64]string, error) {
		leave()
		<-ctx.Done()
		return 0, nil, ctx.Err()
	}})
	if _, err := Join(ctx, id.Token(n.address, soon()), "n2:7000", t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-n.denied; !errors.Is(err, context.Canceled) {
		t.Errorf("the node: %v", err)
	}
}

// pipes is a listener for in-process connections, whose time may be faked.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if nc, ok := <-p; ok {
		return nc, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// dial opens a connection as a newcomer.
func (p pipes) dial(t *testing.T, tok *Token) *tls.Conn {
	t.Helper()
	here, there := net.Pipe()
	p <- there
	nc := tls.Client(here, tok.newcomer())
	if err := nc.Handshake(); err != nil {
		t.Fatal(err)
	}
	return nc
}

// asks sends a request with a token, and waits until the node has answered and closed the
// connection.
func (p pipes) asks(t *testing.T, token string) answer {
	t.Helper()
	tok := read(t, token)
	nc := p.dial(t, &tok)
	defer nc.Close()
	payload, err := exchange(nc, asking(t, token).append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("behind the answer: %v", err)
	}
	a, err := decodeAnswer(payload)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPatience checks that a node waits only briefly for a newcomer to present a token, and longer
// for a newcomer with a token to become a member.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, now := "data", time.Now()
		disk := vfs.NewMem()
		if err := found(disk, dir, cluster, 1, now); err != nil {
			t.Fatal(err)
		}
		id, err := load(disk, dir, cluster, 1)
		if err != nil {
			t.Fatal(err)
		}
		delay := 15 * time.Second
		h := &host{here: true, add: func(ctx context.Context, _ Newcomer) (uint64, map[uint64]string, error) {
			select {
			case <-time.After(delay):
				return 2, nil, nil
			case <-ctx.Done():
				return 0, nil, ctx.Err()
			}
		}}
		ln := make(pipes)
		start(t, ln, id, h)
		token := id.Token("n1:7000", soon())
		tok := read(t, token)

		slow := ln.dial(t, &tok)
		defer slow.Close()
		began := time.Now()
		if _, err := slow.Write([]byte{0, 0}); err != nil {
			t.Fatal(err)
		}
		if _, err := slow.Read(make([]byte, 1)); err == nil || time.Since(began) > 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}

		if a := ln.asks(t, token); a.outcome != admitted || a.node != 2 {
			t.Errorf("%+v", a)
		}
		delay = time.Hour
		began = time.Now()
		if a := ln.asks(t, token); a.outcome != refused || a.text != context.DeadlineExceeded.Error() || time.Since(began) != admitPatience {
			t.Errorf("after %s: %+v", time.Since(began), a)
		}
	})
}
