package protocol

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
)

// NoLeader explains why a node of a cluster serves no clients, and what to do about it.
const NoLeader = "no node leads: a majority of the voters must be up and reach each other; see `fiveways cluster status`"

// NotServed explains why a node of a cluster serves no clients of a protocol, which its settings
// call key, although a node leads.
func NotServed(key string) string {
	return "the node that leads does not serve this protocol: set `" + key + "` on all nodes of the cluster, or on none"
}

// maxTurnedAway is the most that is read from a client that is turned away, in bytes.
const maxTurnedAway = 64 << 10

// TurnAwayHTTP answers one HTTP/1 request with 503 and the text that body returns. nc stays open.
func TurnAwayHTTP(nc net.Conn, body func(*http.Request) (mediaType, text string)) {
	r, err := http.ReadRequest(bufio.NewReader(io.LimitReader(nc, maxTurnedAway)))
	if err != nil {
		return
	}
	mediaType, text := body(r)
	w := http.Response{
		StatusCode: http.StatusServiceUnavailable, ProtoMajor: 1, ProtoMinor: 1, Request: r, Close: true,
		Header:        http.Header{"Content-Type": {mediaType}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}},
		ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)),
	}
	w.Write(nc) //nolint:errcheck // a client that has left needs no answer
}
