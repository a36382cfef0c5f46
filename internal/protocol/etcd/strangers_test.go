package etcd

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := newNode(t, Options{Shared: protocol.Shared{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)}})
	protocoltest.Strangers(t, n.addr, func() func() error {
		c := dial(t, n.addr)
		ask := func() error {
			_, err := c.Get(t.Context(), "a")
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		return ask
	})
}

// beginPost starts a request to the JSON gateway.
func beginPost(t *testing.T, addr, path string, length int, body string) net.Conn {
	t.Helper()
	nc := protocoltest.Silent(t, addr)
	nc.SetDeadline(time.Now().Add(20 * time.Second)) //nolint:errcheck // the reads report the error
	if _, err := fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", path, length, body); err != nil {
		t.Fatal(err)
	}
	return nc
}

// The gateway reads only a short body of a request without a login, for at most a minute. A stream
// of a client that has logged in may take longer.
func TestBodies(t *testing.T) {
	n := controlled(t)
	long := `{"key":"` + strings.Repeat("A", strangerBody) + `"}`
	answer, err := http.ReadResponse(bufio.NewReader(beginPost(t, n.addr, "/v3/kv/range", len(long), long)), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "request body too large") {
		t.Errorf("%d %s, %v", answer.StatusCode, text, err)
	}

	hasty := newNode(t, Options{Patience: 50 * time.Millisecond})
	watch := `{"create_request":{"key":"YQ=="}}`
	stream := bufio.NewReader(beginPost(t, hasty.addr, "/v3/watch", len(watch), watch))
	if _, err := http.ReadResponse(stream, nil); err != nil {
		t.Fatal(err)
	}
	if err := protocoltest.Ended(beginPost(t, hasty.addr, "/v3/kv/range", 1000, "{")); err != nil {
		t.Errorf("a body that does not come: %v", err)
	}
	if _, err := dial(t, hasty.addr).Put(t.Context(), "a", "late", clientv3.WithLease(clientv3.NoLease)); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatalf("the watch ended: %v", err)
		}
		if strings.Contains(line, "bGF0ZQ==") {
			return
		}
	}
}
