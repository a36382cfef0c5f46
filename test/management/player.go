package management

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// The timeout of `until`, and the interval between its requests.
const (
	untilPatience = 20 * time.Second
	untilPoll     = 50 * time.Millisecond
)

// player plays scripts to one server.
type player struct {
	http, amqp string // addresses
	node       string // its name
	dir        string // for temporary files
	clients    map[string]*client
}

func newPlayer(http, amqp, node, dir string) *player {
	return &player{http: http, amqp: amqp, node: node, dir: dir, clients: map[string]*client{}}
}

// play runs one step.
func (p *player) play(s step) (answer, error) {
	ask := p.request
	switch words := strings.Fields(s.line); words[0] {
	case "amqp":
		return p.ofClient(words[1], words[2:])
	case "rabbitmqadmin":
		ask = p.admin
	}
	tick := time.NewTicker(untilPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(untilPatience); ; <-tick.C {
		a, text, err := ask(s.line)
		if err != nil || s.until == "" || strings.Contains(text, s.until) {
			return a, err
		}
		if time.Now().After(deadline) {
			return a, fmt.Errorf("no %q in %s", s.until, text)
		}
	}
}

// request sends the request of a line.
func (p *player) request(line string) (a answer, text string, err error) {
	parts := strings.SplitN(line, " ", 4)
	if len(parts) < 3 {
		return a, "", fmt.Errorf("%q is no request", line)
	}
	body := ""
	if len(parts) == 4 {
		body = parts[3]
	}
	path := strings.ReplaceAll(parts[2], "{node}", p.node)
	for name, c := range p.clients {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(c.name))
	}
	r, err := http.NewRequest(parts[1], "http://"+p.http+path, strings.NewReader(p.named(body)))
	if err != nil {
		return a, "", err
	}
	if user, password, given := strings.Cut(parts[0], ":"); user != "-" {
		if !given {
			password = user
		}
		r.SetBasicAuth(user, password)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, "", err
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	text = clusterID.ReplaceAllString(p.nameless(string(raw)), "{id}")
	a = answer{status: w.StatusCode, empty: strings.TrimSpace(text) == ""}
	if !a.empty {
		a.body = shape([]byte(text), strings.Contains(path, "sort="))
	}
	return a, text, err
}

// clusterID matches the cluster id that a node generates at its first start.
var clusterID = regexp.MustCompile(`rabbitmq-cluster-id-[\w-]+`)

// named inserts the name of the node into a body.
func (p *player) named(text string) string { return strings.ReplaceAll(text, "{node}", p.node) }

// nameless replaces the names of the node and of connections.
func (p *player) nameless(text string) string {
	for name, c := range p.clients {
		text = strings.ReplaceAll(text, c.name, "{"+name+"}")
	}
	return strings.ReplaceAll(text, p.node, "{node}")
}

// reset restores the server to its initial state: it removes all virtual hosts, users and global
// parameters except the initial ones.
func (p *player) reset() error {
	for _, c := range p.clients {
		c.conn.Close() //nolint:errcheck // a script may have closed it
	}
	clear(p.clients)
	for _, list := range []struct{ path, keep string }{{"vhosts", ""}, {"users", "guest"}} {
		a, text, err := p.request("guest GET /api/" + list.path)
		if err != nil || a.status != http.StatusOK {
			return fmt.Errorf("%s: %s, %w", list.path, text, err)
		}
		for _, thing := range a.body.([]any) {
			name := thing.(map[string]any)["name"].(string)
			if name == list.keep {
				continue
			}
			if a, text, err := p.request("guest DELETE /api/" + list.path + "/" + url.PathEscape(name)); err != nil || a.status != http.StatusNoContent {
				return fmt.Errorf("%s %s: %s, %w", list.path, name, text, err)
			}
		}
	}
	for _, line := range []string{
		`guest PUT /api/vhosts/%2F {"description":"Default virtual host"}`,
		`guest PUT /api/permissions/%2F/guest {"configure":".*","write":".*","read":".*"}`,
		`guest PUT /api/cluster-name {"name":"first"}`,
	} {
		if a, text, err := p.request(line); err != nil || a.status >= http.StatusMultipleChoices {
			return fmt.Errorf("%s: %s, %w", line, text, err)
		}
	}
	return nil
}
