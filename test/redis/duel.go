package redis

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sort"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp"
	"fiveways/internal/storage/vfs"
	"fiveways/test/redisd"
)

// step is one command of a sequence.
type step struct {
	conn    int
	words   []string
	sorted  bool // the order of its reply does not count
	expires bool // it waits in vain, and the end of that is awaited
}

func (s step) String() string { return fmt.Sprintf("%d> %q", s.conn, s.words) }

// duel is the two servers.
type duel struct {
	t     testing.TB
	peers [2]*peer
}

// newDuel starts a Redis and a broker with files in memory.
func newDuel(t testing.TB, resp3 bool) *duel {
	t.Helper()
	d := &duel{t: t}
	for i, name := range []string{"Redis", "Fiveways"} {
		d.peers[i] = &peer{t: t, name: name, resp3: resp3, conns: map[int]*conn{}}
	}
	d.peers[0].addr = redisd.Start(t, redisd.Options{})
	d.peers[1].addr = startBroker(t)
	t.Cleanup(func() {
		for _, p := range d.peers {
			p.hangUp()
			if p.watch != nil {
				p.watch.nc.Close()
			}
		}
	})
	return d
}

func startBroker(t testing.TB) (addr string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: log, DiskFreeLimit: -1, Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	srv := resp.New(b, resp.Options{Log: log, LoginDelay: -1})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := srv.Drain(ctx); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// play plays a sequence to both and reports the first difference. Nothing is left behind.
func (d *duel) play(name string, steps []step) (same bool) {
	d.t.Helper()
	defer d.clean()
	for i, s := range steps {
		got := [2]map[int]string{}
		for _, p := range d.peers {
			c := p.conn(s.conn)
			if !c.waits {
				p.send(c, s.words)
				c.waits = true
				p.silent++
			}
		}
		for k, p := range d.peers {
			got[k] = p.settle(s.expires)
			if s.sorted {
				got[k][s.conn] = sortReply(got[k][s.conn])
			}
		}
		if diff := difference(got[0], got[1]); diff != "" {
			var before strings.Builder
			for _, s := range steps[:i+1] {
				fmt.Fprintf(&before, "  %s\n", s)
			}
			d.t.Errorf("%s: replies to the last of\n%sdiffer: %s", name, before.String(), diff)
			return false
		}
	}
	return true
}

// difference tells of the first connection with another reply.
func difference(redis, ours map[int]string) string {
	numbers := map[int]bool{}
	for n := range redis {
		numbers[n] = true
	}
	for n := range ours {
		numbers[n] = true
	}
	var all []int
	for n := range numbers {
		all = append(all, n)
	}
	slices.Sort(all)
	for _, n := range all {
		if redis[n] != ours[n] {
			return fmt.Sprintf("connection %d: Redis %q, Fiveways %q", n, redis[n], ours[n])
		}
	}
	return ""
}

// clean closes all connections and deletes all keys.
func (d *duel) clean() {
	d.t.Helper()
	for _, p := range d.peers {
		p.hangUp()
		for p.blocked() > 0 {
		}
		c := p.conn(0)
		p.send(c, []string{"KEYS", "*"})
		if keys := elements(p.next(c)); len(keys) > 0 {
			p.send(c, append([]string{"DEL"}, keys...))
			p.next(c)
		}
		p.hangUp()
	}
}

// elements are those of a flat array.
func elements(raw []byte) (all []string) {
	r := bufio.NewReader(bytes.NewReader(raw))
	if _, err := r.ReadString('\n'); err != nil {
		return nil
	}
	for {
		e, err := readReply(r, nil)
		if err != nil {
			return all
		}
		if _, text, ok := strings.Cut(string(e), "\r\n"); ok && e[0] == '$' {
			all = append(all, strings.TrimSuffix(text, "\r\n"))
		}
	}
}

// sortReply puts the elements of a flat array in order.
func sortReply(raw string) string {
	head, _, _ := strings.Cut(raw, "\r\n")
	all := elements([]byte(raw))
	sort.Strings(all)
	return head + fmt.Sprintf("%q", all)
}
