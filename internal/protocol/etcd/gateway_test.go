package etcd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// post sends a request to the gateway and returns the status and the body.
func post(t *testing.T, n *node, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// stream starts a stream and returns a function that reads its next line.
func stream(t *testing.T, n *node, path, body string) (next func() string) {
	t.Helper()
	answer, err := http.Post("http://"+n.addr+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	return func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		return lines.Text()
	}
}

// without removes a field from an answer, since header numbers differ between nodes.
func without(t *testing.T, text, field string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	delete(m, field)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestGateway(t *testing.T) {
	n := newNode(t, Options{})
	for _, test := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v3/kv/put", `{"key":"YQ==","value":"MQ=="}`, 200, `{}`},
		{"/v3/kv/put", `{"key":"YQ==","value":"Mg==","prev_kv":true}`, 200, `{"prev_kv":{"create_revision":"2","key":"YQ==","mod_revision":"2","value":"MQ==","version":"1"}}`},
		{"/v3beta/kv/range", `{"key":"YQ=="}`, 200, `{"count":"1","kvs":[{"create_revision":"2","key":"YQ==","mod_revision":"3","value":"Mg==","version":"2"}]}`},
		{"/v3/kv/txn", `{"compare":[{"target":"VALUE","key":"YQ==","value":"Mg=="}],"success":[{"requestDeleteRange":{"key":"YQ=="}}]}`, 200, `{"responses":[{"response_delete_range":{"deleted":"1","header":{"revision":"4"}}}],"succeeded":true}`},
		{"/v3/kv/put", `{"value":"MQ=="}`, 400, `{"code":3,"error":"etcdserver: key is not provided","message":"etcdserver: key is not provided"}`},
		{"/v3/kv/put", `{`, 400, `{"code":3,"error":"unexpected EOF","message":"unexpected EOF"}`},
		{"/v3/kv/range", `{"key":"YQ==","revision":"99"}`, 400, `{"code":11,"error":"etcdserver: mvcc: required revision is a future revision","message":"etcdserver: mvcc: required revision is a future revision"}`},
		{"/v3/lease/grant", `{"TTL":"60","ID":"7"}`, 200, `{"ID":"7","TTL":"60"}`},
		{"/v3/lease/leases", ``, 200, `{"leases":[{"ID":"7"}]}`},
		{"/v3/watch", `x`, 500, `{"code":2,"error":"invalid character 'x' looking for beginning of value","message":"invalid character 'x' looking for beginning of value"}`},
		{"/v3/lease/keepalive", `{"ID":`, 500, `{"code":2,"error":"unexpected EOF","message":"unexpected EOF"}`},
		{"/v3/lock/lock", `{"name":"bA==","lease":"7"}`, 200, `{"key":"bC83"}`},
	} {
		status, text := post(t, n, test.path, test.body)
		if status != test.status || without(t, text, "header") != test.want {
			t.Errorf("%s %s: %d %s\nwant %d %s", test.path, test.body, status, text, test.status, test.want)
		}
	}
}

// TestGatewayWatch checks that a stream is answered line by line, and ends with the server.
func TestGatewayWatch(t *testing.T) {
	n := newNode(t, Options{})
	next := stream(t, n, "/v3/watch", `{"create_request":{"key":"YQ=="}}`)
	if s := next(); !strings.Contains(s, `"created":true`) {
		t.Fatal(s)
	}
	c := dial(t, n.addr)
	for i := range 3 {
		if _, err := c.Put(t.Context(), "a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if s := next(); !strings.Contains(s, fmt.Sprintf(`"mod_revision":"%d"`, i+2)) {
			t.Fatal(s)
		}
	}
	n.drain()
	const end = `{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: server stopped","http_status":"Service Unavailable","code":14}}`
	if s := next(); s != end {
		t.Errorf("the end is %s", s)
	}
}

// TestGatewayRoutes checks the answers to unknown paths and to methods that the gateway has not.
func TestGatewayRoutes(t *testing.T) {
	n := newNode(t, Options{})
	for _, test := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"POST", "/v3/nothing", 404, "Not Found\n"},
		{"GET", "/v3/kv/range", 405, "Method Not Allowed\n"},
		{"PUT", "/v3/kv/put", 405, "Method Not Allowed\n"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+n.addr+test.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != test.status || string(text) != test.want {
			t.Errorf("%s %s: %d %q, %v", test.method, test.path, answer.StatusCode, text, err)
		}
	}
}

// TestGatewayAndBrowsers checks that requests from pages of another origin are refused.
func TestGatewayAndBrowsers(t *testing.T) {
	n := newNode(t, Options{})
	for _, test := range []struct {
		name   string
		header []string
		status int
	}{
		{"no browser", nil, 200},
		{"no browser, by name", []string{"Host", "broker.example:2379"}, 200},
		{"a page of this server's", []string{"Origin", "http://" + n.addr}, 200},
		{"a page from elsewhere", []string{"Origin", "http://evil.example"}, 403},
		{"a page from elsewhere, as browsers say today", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a page whose name leads here", []string{"Origin", "http://evil.example", "Host", "evil.example"}, 421},
		{"such a page, with half a token", []string{
			"Origin", "http://evil.example", "Host", "evil.example", "Authorization", "x", "Grpc-Metadata-Token", "",
		}, 401},
		{"such a page, with half of another", []string{
			"Origin", "http://evil.example", "Host", "evil.example", "Authorization", "x", "Grpc-Metadata-Authorization", "",
		}, 401},
	} {
		if status, text := post(t, n, "/v3/kv/range", `{"key":"YQ=="}`, test.header...); status != test.status {
			t.Errorf("%s: %d %s, want %d", test.name, status, text, test.status)
		}
	}
}

// endless is a request body without end.
type endless struct{}

func (*endless) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte{' '}, len(b))), nil }

// TestGatewayTakesNoEndlessRequests checks that endless requests are cut off: any client may send
// one, even without a login.
func TestGatewayTakesNoEndlessRequests(t *testing.T) {
	n := newNode(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.addr+"/v3/kv/put", &endless{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r) // fails if the connection is closed first
	if err == nil {
		answer.Body.Close()
	}
	if ctx.Err() != nil || err == nil && answer.StatusCode != http.StatusBadRequest {
		t.Errorf("%v, %v", answer, err)
	}
}
