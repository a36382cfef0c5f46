package etcd

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestWeb(t *testing.T) {
	n := newNode(t, Options{})
	for _, tc := range []struct {
		path, want string
		code       int
	}{
		{"/version", `{"etcdserver":"3.5.21","etcdcluster":"3.5.0"}`, 200},
		{"/health", `{"health":"true","reason":""}`, 200},
		{"/health?serializable=true", `{"health":"true","reason":""}`, 200},
		{"/livez", "ok", 200},
		{"/livez?verbose", "[+]serializable_read ok\nok", 200},
		{"/livez/serializable_read", "ok", 200},
		{"/readyz", "ok", 200},
		{"/readyz?verbose&exclude=non_learner", "[+]data_corruption ok\n[+]serializable_read ok\n[+]linearizable_read ok\nok", 200},
		{"/readyz/data_corruption", "ok", 200},
		{"/none", "404 page not found", 404},
	} {
		if code, body := fetch(t, n.addr, tc.path); code != tc.code || body != tc.want {
			t.Errorf("%s: %d %q, want %d %q", tc.path, code, body, tc.code, tc.want)
		}
	}
	for _, path := range []string{"/version", "/health", "/readyz"} {
		r, err := http.Post("http://"+n.addr+path, "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != http.MethodGet {
			t.Errorf("POST %s: %d", path, r.StatusCode)
		}
	}
}

// The metrics include what etcd dashboards query, and each name once.
func TestMetrics(t *testing.T) {
	n := newNode(t, Options{Version: "1.2.3"})
	c := dial(t, n.addr)
	if _, err := c.Put(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(t.Context(), "", "1"); err == nil {
		t.Fatal("no key at all")
	}
	code, text := fetch(t, n.addr, "/metrics")
	if code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	for _, want := range []string{
		`etcd_server_has_leader 1`, `etcd_server_is_leader 1`, `etcd_mvcc_db_total_size_in_bytes [1-9].*`, `etcd_server_proposals_applied_total [1-9].*`,
		`grpc_server_started_total\{grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"\} 2`,
		`grpc_server_handled_total\{grpc_code="OK",grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"\} 1`,
		`grpc_server_handled_total\{grpc_code="InvalidArgument",grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"\} 1`,
		`etcd_network_client_grpc_received_bytes_total [1-9].*`, `etcd_network_client_grpc_sent_bytes_total [1-9].*`,
		`etcd_disk_wal_fsync_duration_seconds_count [1-9].*`, `fiveways_build_info\{version="1.2.3"\} 1`, `process_resident_memory_bytes .*`,
	} {
		if found := regexp.MustCompile(`(?m)^`+want+`$`).FindAllString(text, -1); len(found) != 1 {
			t.Errorf("%s: found %q", want, found)
		}
	}
}

// The first bytes may arrive in any pieces.
func TestFirstBytesInPieces(t *testing.T) {
	n := newNode(t, Options{})
	for name, tc := range map[string]struct{ sent, want string }{
		"HTTP/1":            {"GET /version HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK"},
		"HTTP/1 like 2":     {"PRI / HTTP/1.0\r\n\r\n", "HTTP/1.0 404 Not Found"},
		"HTTP/2 with frame": {string(preface) + "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00"},
		"neither":           {"\x16\x03\x01", "HTTP/1.1 400 Bad Request"},
	} {
		nc, err := net.Dial("tcp", n.addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // the read reports the error
		for i := range len(tc.sent) {
			if _, err := nc.Write([]byte(tc.sent[i : i+1])); err != nil {
				t.Fatal(err)
			}
		}
		if tc.want == "HTTP/1.1 400 Bad Request" {
			nc.Write([]byte("\r\n\r\n")) //nolint:errcheck // it may have been refused already
		}
		got := make([]byte, len(tc.want))
		if _, err := io.ReadFull(nc, got); err != nil || string(got) != tc.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		nc.Close()
	}
}

// A silent connection is closed after some time, and does not delay a drain.
func TestSilentConnections(t *testing.T) {
	n := newNode(t, Options{FirstBytes: 20 * time.Millisecond})
	nc, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetReadDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // the read reports the error
	if _, err := nc.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v, want %v", err, io.EOF)
	}
	patient := newNode(t, Options{})
	silent, err := net.Dial("tcp", patient.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dial(t, patient.addr) //nolint:staticcheck // it only has to be served after the silent one
	if _, err := dial(t, patient.addr).Get(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := patient.Drain(ctx); err != nil {
		t.Error(err)
	}
}
