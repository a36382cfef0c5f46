package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"fiveways.dev/fiveways/internal/storage/store"
)

// health is the response body of /health.
type health struct {
	Health string `json:"health"` // "true" or "false"
	Reason string `json:"reason"`
}

// serveHealth serves /health: the server is healthy if there is no alarm, reads work, and the log
// accepts writes.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	if !onlyGet(w, r) {
		return
	}
	h := health{Health: "true"}
	if reason := s.illness(r.Context(), r.URL.Query()["exclude"]); reason != "" {
		h = health{"false", reason}
	}
	s.metrics.health(h.Health == "true")
	if h.Health == "true" {
		writeJSON(w, h)
		return
	}
	s.quiet.Warn("etcd: unhealthy", "peer", r.RemoteAddr, "reason", h.Reason)
	text, _ := json.Marshal(h) // two strings always marshal
	http.Error(w, string(text), http.StatusServiceUnavailable)
}

// illness returns why the server is unhealthy, or "" if it is healthy. It ignores alarms whose
// names are in excluded.
func (s *Server) illness(ctx context.Context, excluded []string) string {
	for _, a := range s.keys.Alarms() {
		if name := a.Alarm.String(); !slices.Contains(excluded, name) {
			return "ALARM " + name
		}
	}
	if err := s.checkRead(ctx); err != nil {
		return "RANGE ERROR:" + err.Error()
	}
	if err := s.checkLog(ctx); err != nil {
		return "LOG ERROR:" + err.Error()
	}
	return ""
}

func (s *Server) checkRead(ctx context.Context) error {
	_, err := s.keys.KV().Range(ctx, []byte{0}, nil, mvcc.RangeOptions{Limit: 1})
	return err
}

func (s *Server) checkLog(context.Context) error {
	if s.broker.Stats().LogState.Health == store.Healthy {
		return nil
	}
	return errors.New("the log takes no more writes")
}

func (s *Server) checkCorruption(context.Context) error {
	corrupt := func(a *pb.AlarmMember) bool { return a.Alarm == pb.AlarmType_CORRUPT }
	if slices.ContainsFunc(s.keys.Alarms(), corrupt) {
		return errors.New("alarm activated: CORRUPT")
	}
	return nil
}

// check is one of the checks of /livez and /readyz.
type check struct {
	name string
	fn   func(context.Context) error
}

// installChecks adds /livez and /readyz and a path for each of their checks. The names are etcd's.
func (s *Server) installChecks(mux *http.ServeMux) {
	groups := map[string][]check{
		"/livez": {{"serializable_read", s.checkRead}},
		"/readyz": {
			{"data_corruption", s.checkCorruption}, {"serializable_read", s.checkRead}, {"linearizable_read", s.checkLog},
			{"non_learner", func(context.Context) error { return nil }},
		},
	}
	for path, checks := range groups {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			excluded := r.URL.Query()["exclude"]
			s.serveChecks(w, r, slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return slices.Contains(excluded, c.name) }))
		})
		for _, c := range checks {
			mux.HandleFunc(path+"/"+c.name, func(w http.ResponseWriter, r *http.Request) { s.serveChecks(w, r, []check{c}) })
		}
	}
}

func (s *Server) serveChecks(w http.ResponseWriter, r *http.Request, checks []check) {
	if !onlyGet(w, r) {
		return
	}
	var text strings.Builder
	failed := false
	for _, c := range checks {
		if err := c.fn(r.Context()); err != nil {
			failed = true
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.name, err)
		} else {
			fmt.Fprintf(&text, "[+]%s ok\n", c.name)
		}
	}
	if failed {
		s.quiet.Warn("etcd: a health check failed", "peer", r.RemoteAddr, "path", r.URL.Path, "reason", text.String())
		http.Error(w, text.String(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !r.URL.Query().Has("verbose") {
		text.Reset()
	}
	fmt.Fprint(w, text.String()+"ok\n") //nolint:errcheck // nothing to do if the client is gone
}
