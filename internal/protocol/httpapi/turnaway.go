package httpapi

import (
	_ "embed"
	"encoding/json"
	"net"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/protocol"
)

// noLeaderPage is served instead of the web page while no node leads. It reloads itself until the
// web page is back.
//
//go:embed noleader.html
var noLeaderPage string

// TurnAway tells a client why it is not served. nc stays open.
func TurnAway(nc net.Conn, reason string) {
	protocol.TurnAwayHTTP(nc, func(r *http.Request) (mediaType, text string) {
		if reason == protocol.NoLeader && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html") {
			return "text/html; charset=utf-8", noLeaderPage
		}
		body, _ := json.Marshal(Refusal{Error: "unavailable", Reason: reason}) // two strings
		return "application/json", string(body) + "\n"
	})
}
