// Package control lets an operator query a node about its cluster and change the members. It serves
// HTTP with JSON on a socket of the node, and also answers when there is no leader. Requests that
// only the leader can handle are forwarded to it over the connections between the nodes.
package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
)

const (
	// askPatience is how long another node may take to report its state.
	askPatience = time.Second
	// askInterval is how often a node asks the others, so that it can answer from memory.
	askInterval = 5 * time.Second
	// changePatience is how long a membership change may take.
	changePatience = 20 * time.Second
	// removalPatience is how long a node may take to learn that it was removed.
	removalPatience = 5 * time.Second
	// maxToken is the longest validity of a token.
	maxToken = 30 * 24 * time.Hour
)

// Token is a token with which a node can join, and the time until which it is valid.
type Token struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}

// Control serves requests about the cluster.
type Control struct {
	node  *cluster.Node
	about func() protocol.About // without Applied and Votes
	mux   *http.ServeMux
	audit *protocol.Audit
	log   *slog.Logger
	disks disks

	mu   sync.Mutex
	said map[uint64]protocol.About // guarded by mu: the last report of each node
}

var _ protocol.Cluster = (*Control)(nil)

// New returns the Control of a node. about returns what the node reports of itself. Control sets
// Applied and Votes in it.
func New(n *cluster.Node, about func() protocol.About, audit *protocol.Audit, log *slog.Logger) *Control {
	c := &Control{node: n, about: about, mux: http.NewServeMux(), audit: audit, log: log, disks: disks{low: map[uint64]bool{}}, said: map[uint64]protocol.About{}}
	c.mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { reply(w, c.self()) })
	c.mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { reply(w, c.status(r.Context())) })
	c.mux.HandleFunc("POST /token", c.token)
	c.mux.HandleFunc("POST /transfer", c.onLeader(c.transfer))
	c.mux.HandleFunc("POST /resign", c.resign)
	c.mux.HandleFunc("POST /remove", c.onLeader(c.remove))
	c.remember(n.Status().Node, c.self())
	return c
}

// ServeHTTP implements http.Handler.
func (c *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.mux.ServeHTTP(w, r) }

func (c *Control) self() protocol.About {
	a, s := c.about(), c.node.Status()
	fill(&a, &s)
	return a
}

// fill sets the fields that the replica knows.
func fill(a *protocol.About, s *cluster.Status) {
	a.Applied = s.Applied
	a.Votes = slices.Contains(s.Voters, s.Node)
}

func (c *Control) remember(node uint64, a protocol.About) {
	c.node.NoteName(node, a.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said[node] = a
}

// Status implements protocol.Cluster. Reports of other nodes are up to askInterval old.
func (c *Control) Status() protocol.ClusterStatus {
	s := c.node.Status()
	out := protocol.ClusterStatus{
		Cluster: fmt.Sprintf("%016x", s.Cluster), Node: s.Node, Leader: s.Leader, Removed: s.Removed, Term: s.Term, Last: s.Last, Committed: s.Committed, Level: s.Level,
		Members: make([]protocol.Member, 0, len(s.Addresses)),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, address := range s.Addresses {
		peer := s.Peers[id]
		m := protocol.Member{Node: id, Address: address, Role: role(&s, id), Up: id == s.Node || peer.Connected, RTT: peer.RTT, Skew: peer.Skew, Said: c.node.Name(id)}
		if match, known := s.Match[id]; known {
			m.Match, m.Lags = &match, s.Behind[id] > replica.KeepsUpWithin
		}
		if a, ok := c.said[id]; ok {
			if id == s.Node {
				fill(&a, &s)
			}
			setAbout(&m, a)
		}
		out.Members = append(out.Members, m)
	}
	slices.SortFunc(out.Members, func(a, b protocol.Member) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// status returns the status that the leader reports, since it knows most. If the leader does not
// answer, status asks all nodes and returns the status of this node.
func (c *Control) status(ctx context.Context) protocol.ClusterStatus {
	out := c.Status()
	if out.Leader != 0 && out.Leader != out.Node {
		var theirs protocol.ClusterStatus
		if err := c.ask(ctx, out.Leader, "/status", &theirs); err == nil {
			return theirs
		}
	}
	c.askAll(ctx, out.Members)
	return out
}

// askAll asks members for their current state and stores the reports, also in members. It sets
// About to nil for a member that does not answer.
func (c *Control) askAll(ctx context.Context, members []protocol.Member) {
	self := c.node.Status().Node
	var asked sync.WaitGroup
	for i := range members {
		m := &members[i]
		asked.Go(func() {
			var a protocol.About
			var err error
			if m.Node == self {
				a = c.self()
			} else {
				err = c.ask(ctx, m.Node, "/about", &a)
			}
			if m.About = nil; err == nil {
				setAbout(m, a)
				c.remember(m.Node, a)
			}
		})
	}
	asked.Wait()
}

// watch asks all nodes periodically until ctx ends.
func (c *Control) watch(ctx context.Context) {
	again := time.NewTicker(askInterval)
	defer again.Stop()
	for {
		members := c.Status().Members
		c.askAll(ctx, members)
		c.relieve(ctx, members)
		c.disks.look(c.Status().Members) // with the last reports of those that did not answer
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// setAbout adds a member's own report. The leader knows of a new voter a moment before that voter
// does. If the leader fails in between, the voter cannot replace it, so it counts as a learner
// until both know.
func setAbout(m *protocol.Member, a protocol.About) {
	m.About = &a
	if m.Role == protocol.RoleFollower && !a.Votes {
		m.Role = protocol.RoleLearner
	}
}

func role(s *cluster.Status, node uint64) string {
	switch {
	case node == s.Leader:
		return protocol.RoleLeader
	case slices.Contains(s.Voters, node):
		return protocol.RoleFollower
	}
	return protocol.RoleLearner
}

// ask requests a path from another node and decodes the answer.
func (c *Control) ask(ctx context.Context, node uint64, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node"+path, nil)
	if err != nil {
		return err
	}
	t := c.transport(node)
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// transport returns an HTTP transport to the Control of another node.
func (c *Control) transport(node uint64) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return c.node.Dial(ctx, node, cluster.ControlStream)
	}}
}

// onLeader wraps a handler so that the leader handles the request.
func (c *Control) onLeader(fn http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.node.Status()
		switch s.Leader {
		case s.Node:
			fn(w, r)
		case 0:
			refuse(w, http.StatusServiceUnavailable, errors.New(Unled(&s)))
		default:
			t := c.transport(s.Leader)
			defer t.CloseIdleConnections()
			p := httputil.ReverseProxy{
				Transport: t,
				Rewrite:   func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "http", "node" },
				ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
					if c.hasLeft(r) {
						w.WriteHeader(http.StatusNoContent)
						return
					}
					refuse(w, http.StatusServiceUnavailable, fmt.Errorf("node %d leads, and cannot be reached: %w", s.Leader, err))
				},
			}
			p.ServeHTTP(w, r)
		}
	}
}

// hasLeft reports whether a request was to remove this node, and did. The leader may close the
// connections of the node before it has answered.
func (c *Control) hasLeft(r *http.Request) bool {
	if r.URL.Path != "/remove" || r.URL.Query().Get("node") != strconv.FormatUint(c.node.Status().Node, 10) {
		return false
	}
	ctx, cancel := context.WithTimeout(r.Context(), removalPatience)
	defer cancel()
	again := time.NewTicker(replica.TickInterval)
	defer again.Stop()
	for !c.node.Status().Removed {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
	}
	return true
}

// Unled returns why a node knows no leader.
func Unled(s *cluster.Status) string {
	if s.Removed {
		return protocol.Removed
	}
	return protocol.NoLeader
}

// token creates a token: for=DURATION.
func (c *Control) token(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.FormValue("for"))
	if err == nil && (d <= 0 || d > maxToken) {
		err = fmt.Errorf("for: %v is not between 0 and %v", d, maxToken)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if c.node.Status().Removed { // no member would answer the node that joins
		refuse(w, http.StatusConflict, errors.New(protocol.Removed))
		return
	}
	until := time.Now().Add(d).Truncate(time.Second)
	c.record("token made", until.UTC().Format(time.RFC3339), nil)
	reply(w, Token{c.node.Token(until), until})
}

// transfer transfers the leadership to another node: node=N.
func (c *Control) transfer(w http.ResponseWriter, r *http.Request) {
	node, err := c.member(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	err = c.Transfer(r.Context(), node)
	c.record("lead transferred", r.FormValue("node"), err)
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// resign makes this node give up its leadership, if it leads, and waits until another node leads.
func (c *Control) resign(w http.ResponseWriter, _ *http.Request) {
	s := c.node.Status()
	if s.Leader != s.Node {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.node.GiveAway()
	var err error
	if c.node.Status().Leader == s.Node {
		err = errors.New("no other node has taken the lead: another voter must be up, and keep up with the log")
	}
	c.record("lead given away", strconv.FormatUint(s.Node, 10), err)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// remove removes a node from the cluster forever: node=N.
func (c *Control) remove(w http.ResponseWriter, r *http.Request) {
	node, err := c.member(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	err = c.Remove(r.Context(), node)
	c.record("node removed", r.FormValue("node"), err)
	switch {
	case errors.Is(err, replica.ErrTooFew), errors.Is(err, replica.ErrNoMajority), errors.Is(err, replica.ErrBusy):
		refuse(w, http.StatusConflict, err)
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// Transfer implements protocol.Cluster.
func (c *Control) Transfer(ctx context.Context, node uint64) error {
	return c.node.Transfer(ctx, node)
}

// Remove implements protocol.Cluster.
func (c *Control) Remove(ctx context.Context, node uint64) error {
	ctx, cancel := context.WithTimeout(ctx, changePatience)
	defer cancel()
	return c.node.Remove(ctx, node)
}

// record adds a change to the audit log. A change that failed is recorded with its error.
func (c *Control) record(what, on string, err error) {
	act := protocol.Act{Protocol: "cluster", Who: "operator", What: what, On: on}
	if err != nil {
		act.Refusal = err.Error()
	}
	c.audit.Record(act)
}

// member returns the node that a request names.
func (c *Control) member(r *http.Request) (uint64, error) {
	node, err := strconv.ParseUint(r.FormValue("node"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("node: %q is no number", r.FormValue("node"))
	}
	if _, ok := c.node.Status().Addresses[node]; !ok {
		return 0, fmt.Errorf("node %d is no member of the cluster", node)
	}
	return node, nil
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client has disconnected
}

func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) //nolint:errcheck // the client has disconnected
}

// Serve serves requests on listeners until they are closed. Meanwhile it polls the state of the
// other nodes.
func (c *Control) Serve(listeners ...net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	var served, watching sync.WaitGroup
	watching.Go(func() { c.watch(ctx) })
	s := http.Server{Handler: c, ReadHeaderTimeout: askPatience}
	for _, l := range listeners {
		served.Go(func() { s.Serve(l) }) //nolint:errcheck // the listener was closed
	}
	served.Wait()
	cancel()
	watching.Wait()
	s.Close() //nolint:errcheck // the listeners are closed
}
