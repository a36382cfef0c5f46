package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

// node is an API served over the network.
type node struct {
	*Server
	api    *API
	url    string
	client http.RoundTripper
	dial   func() (net.Conn, error)
}

func serve(t *testing.T, b *broker.Broker, o Options, so ServerOptions) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, http.DefaultTransport, b, o, so)
}

// serveInBubble is serve in a synctest bubble, with connections in memory.
func serveInBubble(t *testing.T, b *broker.Broker, o Options, so ServerOptions) *node {
	t.Helper()
	t.Cleanup(func() { <-time.After(time.Minute) }) // Shutdown of net/http polls
	l := protocoltest.NewPipes()
	client := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }}
	t.Cleanup(client.CloseIdleConnections)
	n := serveOn(t, l, client, b, o, so)
	n.dial = func() (net.Conn, error) { return l.Dial(t.Context()) }
	return n
}

func serveOn(t *testing.T, l net.Listener, client http.RoundTripper, b *broker.Broker, o Options, so ServerOptions) *node {
	t.Helper()
	if o.LoginDelay == 0 {
		o.LoginDelay = -1
	}
	if o.Log == nil {
		o.Log = resttest.Quiet
	}
	so.Log = o.Log
	a := New(b, o)
	n := &node{Server: NewServer(a, so), api: a, client: client, url: "http://" + l.Addr().String()}
	n.dial = func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }
	served := make(chan error, 1)
	go func() { served <- n.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := n.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return n
}

// request sends a request as a user: "name:password", or "" for none.
func (n *node) request(t *testing.T, method, path, login, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if name, password, ok := strings.Cut(login, ":"); ok {
		r.SetBasicAuth(name, password)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w, err := n.client.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	t.Cleanup(func() { w.Body.Close() })
	return w
}

// addUsers creates users on the broker. Each has the tag of the same name, and its name as its
// password.
func addUsers(t *testing.T, b *broker.Broker, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := b.PutUser(catalog.UserSpec{Name: name, Password: name, Tags: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
}

func textOf(t *testing.T, w *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The paths of operators need a login with a tag, as in RabbitMQ. The admin socket needs neither.
func TestLoginAndTags(t *testing.T) {
	b := resttest.OpenBroker(t)
	addUsers(t, b, "nobody", "management", "monitoring", "policymaker", "administrator")
	for _, user := range []string{"management", "monitoring", "policymaker"} { // users who see the virtual host but have no permissions in it
		if _, err := b.SetPermission(catalog.Permission{User: user, VHost: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	n := serve(t, b, Options{}, ServerOptions{})
	for _, tc := range []struct {
		method, path string
		need         rest.Need
	}{
		{"GET", "/api/users", rest.Administration}, {"GET", "/api/users/guest", rest.Administration}, {"PUT", "/api/users/x", rest.Administration},
		{"DELETE", "/api/users/x", rest.Administration}, {"PUT", "/api/users/x/password", rest.Administration}, {"PUT", "/api/users/x/tags", rest.Administration},
		{"PUT", "/api/users/x/loopback-only", rest.Administration}, {"GET", "/api/users/guest/permissions", rest.Administration},
		{"GET", "/api/users/guest/topic-permissions", rest.Administration}, {"GET", "/api/vhosts", rest.Management}, {"GET", "/api/vhosts/%2F", rest.Administration},
		{"PUT", "/api/vhosts/x", rest.Administration}, {"DELETE", "/api/vhosts/x", rest.Administration}, {"GET", "/api/vhosts/%2F/permissions", rest.Administration},
		{"GET", "/api/vhosts/%2F/topic-permissions", rest.Administration}, {"GET", "/api/permissions", rest.Administration},
		{"GET", "/api/permissions/%2F/guest", rest.Administration}, {"PUT", "/api/permissions/%2F/x", rest.Administration},
		{"DELETE", "/api/permissions/%2F/x", rest.Administration}, {"GET", "/api/topic-permissions", rest.Administration},
		{"GET", "/api/topic-permissions/%2F/guest", rest.Administration}, {"PUT", "/api/topic-permissions/%2F/x", rest.Administration},
		{"DELETE", "/api/topic-permissions/%2F/x", rest.Administration}, {"DELETE", "/api/topic-permissions/%2F/x/y", rest.Administration},
		{"GET", "/api/vhost-limits", rest.Management}, {"PUT", "/api/vhost-limits/x/max-queues", rest.Administration},
		{"DELETE", "/api/vhost-limits/x/max-queues", rest.Administration}, {"GET", "/api/user-limits", rest.Management},
		{"PUT", "/api/user-limits/x/max-channels", rest.Administration}, {"DELETE", "/api/user-limits/x/max-channels", rest.Administration},
		{"GET", "/debug/pprof/", rest.Administration}, {"GET", "/debug/pprof/profile?seconds=1", rest.Administration}, {"GET", "/debug/pprof/trace?seconds=0.001", rest.Administration},
		{"GET", "/api/queues/%2F/q/messages", rest.Management}, {"GET", "/api/queues/%2F/q/scheduled", rest.Management},
		{"PUT", "/api/queues/%2F/q/scheduled/x", rest.Management}, {"DELETE", "/api/queues/%2F/q/scheduled/x", rest.Management},
		{"GET", "/api/exchanges/%2F/e/scheduled", rest.Management}, {"PUT", "/api/exchanges/%2F/e/scheduled/x", rest.Management},
		{"DELETE", "/api/exchanges/%2F/e/scheduled/x", rest.Management}, {"PUT", "/api/queues/%2F/q/scheduled/at/1-1", rest.Management},
		{"DELETE", "/api/queues/%2F/q/scheduled/at/1-1", rest.Management}, {"PUT", "/api/exchanges/%2F/e/scheduled/at/1-1", rest.Management},
		{"DELETE", "/api/exchanges/%2F/e/scheduled/at/1-1", rest.Management}, {"GET", "/api/none", rest.Login}, {"PATCH", "/api/users", rest.Login},
	} {
		for user, has := range map[string]rest.Need{"nobody": rest.Login, "management": rest.Management, "monitoring": rest.Management, "policymaker": rest.Management, "administrator": rest.Administration} {
			w := n.request(t, tc.method, tc.path, user+":"+user, "x")
			got := textOf(t, w)
			if no := w.StatusCode == http.StatusUnauthorized; no != (has < tc.need) {
				t.Errorf("%s %s by %s: %d %s", tc.method, tc.path, user, w.StatusCode, got)
			}
			if tc.need == rest.Administration && has < tc.need && !strings.Contains(got, `"reason":"Not administrator user"`) {
				t.Errorf("%s %s by %s: %s", tc.method, tc.path, user, got)
			}
		}
		wantsLogin(t, n, tc.method, tc.path, "")
	}
	for _, who := range []string{"nobody:", ":", "administrator:wrong", "none:none"} {
		wantsLogin(t, n, "GET", "/api/users", who)
	}
	if w := n.request(t, "GET", "/api/users", "guest:guest", ""); w.StatusCode != http.StatusOK {
		t.Errorf("guest: %d", w.StatusCode)
	}
}

// wantsLogin checks that a request without a valid login gets 401.
func wantsLogin(t *testing.T, n *node, method, path, who string) {
	t.Helper()
	w := n.request(t, method, path, who, "x")
	if got := textOf(t, w); w.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(w.Header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("%s %s by %q: %d %s", method, path, who, w.StatusCode, got)
	}
}

// A user needs permissions of its own to look at queues; a tag is not enough.
func TestPermissionsOfMessages(t *testing.T) {
	b := resttest.OpenBroker(t)
	addUsers(t, b, "management")
	n := serve(t, b, Options{}, ServerOptions{})
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	look := func(want int, text string) {
		t.Helper()
		w := n.request(t, "GET", "/api/queues/%2F/q/messages", "management:management", "")
		if got := textOf(t, w); w.StatusCode != want || !strings.Contains(got, text) {
			t.Errorf("%d %s; want %d with %s", w.StatusCode, got, want, text)
		}
	}
	look(http.StatusUnauthorized, `"reason":"User not authorised to access virtual host"`)
	allow := func(read string) {
		t.Helper()
		if _, err := b.SetPermission(catalog.Permission{User: "management", VHost: "/", Read: read}); err != nil {
			t.Fatal(err)
		}
	}
	allow("^other")
	look(http.StatusForbidden, `access refused`)
	allow("^q$")
	look(http.StatusOK, "[]")
	if err := b.DeleteUser("management"); err != nil {
		t.Fatal(err)
	}
	look(http.StatusUnauthorized, "Login failed")
}

// A foreign page, in a browser that has stored a password, can do nothing. A page whose own name
// resolves to our address cannot log in as guest.
func TestForeignPages(t *testing.T) {
	b := resttest.OpenBroker(t)
	addUsers(t, b, "administrator")
	n := serve(t, b, Options{}, ServerOptions{})
	for name, tc := range map[string]struct {
		login  string
		header []string
		want   int
	}{
		"no browser":                   {"guest:guest", nil, 201},
		"our own page":                 {"guest:guest", []string{"Sec-Fetch-Site", "same-origin", "Origin", n.url}, 201},
		"another page":                 {"guest:guest", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, 403},
		"another page, older browser":  {"guest:guest", []string{"Origin", "http://evil.example"}, 403},
		"a name of theirs":             {"guest:guest", []string{"Host", "evil.example:15672"}, 401},
		"a name of theirs, their page": {"guest:guest", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 401},
		"localhost":                    {"guest:guest", []string{"Host", "localhost:15672"}, 201},
		"a name of ours, a password":   {"administrator:administrator", []string{"Host", "broker.example:15672"}, 201},
	} {
		w := n.request(t, "PUT", "/api/vhosts/v", tc.login, "{}", tc.header...)
		if got := textOf(t, w); w.StatusCode != tc.want {
			t.Errorf("%s: %d %s", name, w.StatusCode, got)
		}
		if _, err := b.VHost("v"); (err == nil) != (tc.want == 201) {
			t.Errorf("%s: the virtual host: %v", name, err)
		}
		b.DeleteVHost("v") //nolint:errcheck // it need not exist
	}
	// Neither can guest from another machine.
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://127.0.0.1/api/users", nil)
	r.RemoteAddr = "192.0.2.7:4000"
	r.SetBasicAuth("guest", "guest")
	n.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("guest from elsewhere: %d", w.Code)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	b := resttest.OpenBroker(t)
	resttest.Play(t, New(b, Options{}), []resttest.Step{
		{"PATCH /api/users", 405, `{"error":"method_not_allowed","reason":"this path takes GET, HEAD"}`},
		{"POST /api/vhosts/v {}", 405, "this path takes DELETE, GET, HEAD, PUT"},
		{"GET /elsewhere", 404, "Not Found"},
		{"OPTIONS /api/users", 200, ""},
		{`PUT /api/vhosts/v {"description":"` + strings.Repeat("x", rest.MaxBody) + `"}`, 413, "too long"},
	})
}

// OPTIONS needs no login, and answers with the methods of a path as RabbitMQ does.
func TestOptions(t *testing.T) {
	n := serve(t, resttest.OpenBroker(t), Options{}, ServerOptions{})
	for path, want := range map[string]string{
		"/api/overview": "HEAD, GET, OPTIONS", "/api/queues/%2F/x": "HEAD, GET, PUT, DELETE, OPTIONS", "/api/exchanges/%2F/x/publish": "POST, OPTIONS",
		"/api/none": "HEAD, GET, OPTIONS", "/api/queues/%2F/x/actions": "POST, OPTIONS",
	} {
		for _, login := range []string{"guest:guest", "guest:wrong", ""} {
			w := n.request(t, "OPTIONS", path, login, "")
			if got := w.Header.Get("Allow"); w.StatusCode != http.StatusOK || got != want {
				t.Errorf("%s as %q: %d, %q, want 200, %q", path, login, w.StatusCode, got, want)
			}
		}
	}
}

// Requests have ids: the client's, or generated ones.
func TestRequestIDs(t *testing.T) {
	var log logtest.Text
	b := resttest.OpenBroker(t)
	n := serve(t, b, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, ServerOptions{})
	if got := n.request(t, "PUT", "/api/vhosts/v", "guest:guest", "{}", "X-Request-Id", "mine-7").Header.Get("X-Request-Id"); got != "mine-7" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(log.String(), "audit.request=mine-7 audit.outcome=done") {
		t.Errorf("the log: %s", log.String())
	}
	for _, bad := range []string{"two words", "é", strings.Repeat("x", 129)} {
		got := n.request(t, "PUT", "/api/vhosts/v", "guest:guest", "{}", "X-Request-Id", bad).Header.Get("X-Request-Id")
		if got == bad || len(got) < 10 || !strings.Contains(log.String(), got) {
			t.Errorf("%q is called %q; the log: %s", bad, got, log.String())
		}
	}
}

// A wrong password is answered late. A client that disconnects meanwhile delays nothing.
func TestWrongPasswordIsSlow(t *testing.T) {
	n := serve(t, resttest.OpenBroker(t), Options{LoginDelay: time.Hour}, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", n.url+"/api/users", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("guest", "wrong")
	done := make(chan error, 1)
	go func() {
		_, err := http.DefaultTransport.RoundTrip(r)
		done <- err
	}()
	if w := n.request(t, "GET", "/api/users", "guest:guest", ""); w.StatusCode != http.StatusOK {
		t.Errorf("%d", w.StatusCode)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("it was answered at once")
	}
}

// Connections take a place of the limit at the login. Connections that send nothing, or only part
// of a request, are closed, and do not delay a drain.
func TestConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = time.Second
		limit := protocol.NewLimit(1)
		n := serveInBubble(t, resttest.OpenBroker(t), Options{}, ServerOptions{Connections: limit, Patience: patience})
		dial := func() net.Conn {
			t.Helper()
			c, err := n.dial()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			c.SetDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // otherwise the reads fail
			return c
		}
		whoami := func(c net.Conn) string {
			t.Helper()
			if _, err := io.WriteString(c, "GET /api/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			w, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			return w.Status + textOf(t, w)
		}
		begun, slow := time.Now(), dial()
		if _, err := slow.Write([]byte("GET /api/users HTTP/1.1\r\nHo")); err != nil {
			t.Fatal(err)
		}
		first := dial()
		for range 2 {
			if got := whoami(first); !strings.HasPrefix(got, "200") || limit.Used() != 1 {
				t.Errorf("%s, %d places are taken", got, limit.Used())
			}
		}
		if got := whoami(dial()); !strings.HasPrefix(got, "503") || !strings.Contains(got, "as many connections") {
			t.Error(got)
		}
		if _, err := io.Copy(io.Discard, slow); err != nil || time.Since(begun) != patience {
			t.Errorf("a slow request: %v after %v", err, time.Since(begun))
		}
		first.Close()
		synctest.Wait()
		if limit.Used() > 0 {
			t.Error("the place is not given back")
		}
	})
}

func TestDrainWithASilentConnection(t *testing.T) {
	n := serve(t, resttest.OpenBroker(t), Options{}, ServerOptions{})
	c, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n.request(t, "GET", "/api/users", "guest:guest", "") // served despite the silent connection
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := n.Drain(ctx); err != nil {
		t.Error(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // otherwise the read fails
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is open")
	}
}

// A user at the connection limit can still use HTTP, because a request is no connection, as in
// RabbitMQ.
func TestRequestsAreNoConnections(t *testing.T) {
	b := resttest.OpenBroker(t)
	n := serve(t, b, Options{}, ServerOptions{})
	if err := errors.Join(b.SetUserLimit("guest", catalog.LimitConnections, 0), b.SetVHostLimit("/", catalog.LimitConnections, 0)); err != nil {
		t.Fatal(err)
	}
	if w := n.request(t, "GET", "/api/exchanges/%2F/amq.direct/scheduled", "guest:guest", ""); w.StatusCode != http.StatusOK {
		t.Errorf("%d %s", w.StatusCode, textOf(t, w))
	}
	if _, err := b.NewSession(broker.SessionOptions{User: "guest", VHost: "/"}); !errors.Is(err, failure.ErrVHostConnections) {
		t.Errorf("a connection: %v", err)
	}
}
