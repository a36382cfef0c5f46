package floor

import (
	"io"
	"net"
	"net/http"

	"fiveways.dev/fiveways/internal/protocol"
)

// newHTTP answers every POST as RabbitMQ answers a publish, and everything else with an empty
// response.
func newHTTP(d *Disk) *protocol.Edge {
	h := protocol.NewHTTP(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodPost {
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage))
		if err == nil {
			err = d.Keep(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		io.WriteString(w, `{"routed":true}`) //nolint:errcheck // the client may be gone
	})})
	return protocol.NewEdge("http", logger(), func(nc net.Conn, _ uint64) protocol.Session { return h.Session(nc) })
}
