package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"
)

// brokers are stand-ins for brokers, which only record that they were called.
type brokers struct {
	t       *testing.T
	all     map[string]*standIn
	hangups []string // addresses of listeners that close every connection
	mu      sync.Mutex
	called  map[string]bool
	last    map[string]chan struct{} // by client address: the connections of settle
	stopped context.CancelFunc       // ends the command once it has called; nil: it ends by itself
}

// standIn is a broker's data folder with its admin socket, and the addresses of its protocols.
type standIn struct {
	name, dir string
	addresses map[string]string // by the key of the protocol
}

func newBrokers(t *testing.T, names ...string) *brokers {
	b := &brokers{t: t, all: map[string]*standIn{}, called: map[string]bool{}, last: map[string]chan struct{}{}}
	for _, name := range names {
		s := &standIn{name: name, dir: t.TempDir(), addresses: map[string]string{}}
		for _, key := range []string{"amqp", "sql", "redis", "etcd"} {
			l := b.listen("tcp", "127.0.0.1:0")
			s.addresses[key] = l.Addr().String()
			b.hangups = append(b.hangups, s.addresses[key])
			go b.hangUp(l, name)
		}
		web := b.listen("tcp", "127.0.0.1:0")
		s.addresses["http"] = web.Addr().String()
		for _, l := range []net.Listener{web, b.listen("unix", filepath.Join(s.dir, "admin.sock"))} {
			api := &httptest.Server{Listener: l, Config: &http.Server{Handler: b.api(s)}} //nolint:gosec // no client is slow
			api.Start()
			t.Cleanup(api.Close)
		}
		b.all[name] = s
	}
	return b
}

func (b *brokers) listen(network, address string) net.Listener {
	b.t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { l.Close() }) //nolint:errcheck // the API's servers have closed theirs
	return l
}

func (b *brokers) note(name string, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.called[name] = true
	if found && b.stopped != nil {
		b.stopped()
	}
}

// hangUp closes every connection.
func (b *brokers) hangUp(l net.Listener, name string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if !b.settles(c) {
			b.note(name, name != "source")
		}
		c.Close() //nolint:errcheck // nothing was sent
	}
}

// settle waits until every connection made so far is recorded: connections are accepted in the
// order in which they were made.
func (b *brokers) settle() {
	b.t.Helper()
	for _, address := range b.hangups {
		accepted := make(chan struct{})
		b.mu.Lock() // held until settles can know the connection
		c, err := net.Dial("tcp", address)
		if err == nil {
			b.last[c.LocalAddr().String()] = accepted
		}
		b.mu.Unlock()
		if err != nil {
			b.t.Fatal(err)
		}
		<-accepted
		c.Close() //nolint:errcheck // nothing was sent
	}
}

// settles reports whether c is a connection of settle, and tells settle that it is accepted.
func (b *brokers) settles(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := c.RemoteAddr().String()
	accepted, ok := b.last[key]
	if ok {
		delete(b.last, key)
		close(accepted)
	}
	return ok
}

// api lists the addresses, has no objects, and accepts every change.
func (b *brokers) api(s *standIn) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.note(s.name, false)
		switch {
		case r.URL.Path == "/api/listeners":
			ways := []map[string]any{}
			for _, key := range slices.Sorted(maps.Keys(s.addresses)) {
				host, port, _ := net.SplitHostPort(s.addresses[key])
				ways = append(ways, map[string]any{"protocol": key, "address": host, "port": json.Number(port)})
			}
			json.NewEncoder(w).Encode(ways) //nolint:errcheck // the command would fail
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":"Object Not Found","reason":"Not Found"}`) //nolint:errcheck // as above
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// run executes a command and returns its exit code, the stand-ins that it called, and its output.
func (b *brokers) run(args []string) (code int, called []string, said string) {
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	b.mu.Lock()
	b.called, b.stopped = map[string]bool{}, stop
	b.mu.Unlock()
	var out strings.Builder
	code = Main(ctx, args, &out, &out)
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = nil
	delete(b.called, "source")
	return code, slices.Sorted(maps.Keys(b.called)), out.String()
}

// fill inserts addresses of a stand-in into arguments.
func (b *brokers) fill(text, name string) []string {
	for key, address := range b.all[name].addresses {
		text = strings.ReplaceAll(text, "{"+key+"}", address)
	}
	return wordsIn(strings.ReplaceAll(text, "{source}", b.all["source"].addresses["amqp"]))
}

// TestWhichBrokerOfEachCommand checks that each command contacts the intended broker and no other.
func TestWhichBrokerOfEachCommand(t *testing.T) {
	b := newBrokers(t, "one", "two", "three", "source")
	t.Chdir(t.TempDir())
	must(t, os.Symlink(b.all["three"].dir, "fiveways-data"))
	for name, text := range map[string]string{
		"one.toml": fmt.Sprintf("data = %q\n", b.all["one"].dir),
		"two.toml": fmt.Sprintf("data = %q\n", b.all["two"].dir),
		"words":    `{"vhosts":[{"name":"/"}],"queues":[{"name":"q","vhost":"/","durable":true,"arguments":{}}],"messages":1}`,
		"list":     "[]",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	given := map[string]func(name string) []string{ // the ways to name a broker on the command line
		"--data":   func(name string) []string { return []string{"--data", b.all[name].dir} },
		"--config": func(name string) []string { return []string{"--config", name + ".toml"} },
	}
	for name, tc := range map[string]struct {
		line      string // how a broker is named on the command line; "" if it is not
		variables map[string]string
		addresses string // the broker whose addresses are in the environment
		want      string
	}{
		"a folder":                       {"--data", map[string]string{"FIVEWAYS_DATA": b.all["two"].dir}, "two", "one"},
		"a file":                         {"--config", nil, "two", "one"},
		"a file in the environment":      {"", map[string]string{config.EnvFile: "one.toml"}, "two", "one"},
		"a folder in the environment":    {"", map[string]string{"FIVEWAYS_DATA": b.all["one"].dir}, "two", "one"},
		"a folder over a file":           {"--data", map[string]string{config.EnvFile: "two.toml"}, "two", "one"},
		"addresses":                      {"url", map[string]string{"FIVEWAYS_DATA": b.all["two"].dir}, "two", "one"},
		"nothing":                        {"", nil, "", "three"},
		"a folder without broker":        {"none", nil, "two", ""},
		"addresses and a folder at once": {"both", nil, "two", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.variables {
				t.Setenv(key, value)
			}
			if tc.addresses != "" {
				for key, address := range b.all[tc.addresses].addresses {
					t.Setenv("FIVEWAYS_"+strings.ToUpper(key), address)
				}
			}
			for _, r := range rows {
				if r.way == nobody && r.alone != "" {
					continue
				}
				if r.command == "migrate carmine" && tc.line == "url" {
					continue // it calls its target only after its source has answered
				}
				args := append(strings.Fields(r.command), b.fill(r.args, "one")...)
				url := r.url
				if url == "" {
					url = "--url http://{http}"
				}
				want := tc.want
				switch {
				case r.way == nobody || r.way == elsewhere:
					want = ""
				case tc.line == "url":
					args = append(args, b.fill(url, "one")...)
				case tc.line == "both":
					args = append(append(args, b.fill(url, "one")...), "--data", b.all["two"].dir)
				case tc.line == "none":
					args = append(args, "--data", "none")
				case tc.line != "":
					args = append(args, given[tc.line]("one")...)
				}
				code, called, said := b.run(args)
				if strings.Join(called, " ") != want {
					t.Errorf("%s: called %q, not %q; it said %s", strings.Join(args, " "), called, want, said)
				}
				refused := r.way != nobody && r.way != elsewhere && want == ""
				if refused && (tc.line == "both" && code != exitcode.WrongUsage || tc.line == "none" && code != exitcode.Failure) {
					t.Errorf("%s: exit code %d, %s", strings.Join(args, " "), code, said)
				}
			}
		})
	}
}
