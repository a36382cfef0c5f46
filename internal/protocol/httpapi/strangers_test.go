package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := serve(t, resttest.OpenBroker(t), Options{}, ServerOptions{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)})
	addr := strings.TrimPrefix(n.url, "http://")
	protocoltest.Strangers(t, addr, func() func() error {
		nc := protocoltest.Silent(t, addr)
		r := bufio.NewReader(nc)
		ask := func() error {
			if _, err := io.WriteString(nc, "GET /api/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n\r\n"); err != nil {
				return err
			}
			w, err := http.ReadResponse(r, nil)
			if err != nil {
				return err
			}
			if text, err := io.ReadAll(w.Body); err != nil || w.StatusCode != http.StatusOK {
				return fmt.Errorf("%d %s, %w", w.StatusCode, text, err)
			}
			return nil
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		return ask
	})
}
