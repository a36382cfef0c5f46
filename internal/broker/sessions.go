package broker

import (
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// sessions are the open sessions, counted towards the limits.
type sessions struct {
	mu     sync.Mutex
	open   map[*Session]struct{}
	users  map[string]usage
	vhosts map[string]int64
}

// usage is the number of a user's open sessions and channels, without brief sessions.
type usage struct{ sessions, channels int64 }

func newSessions() sessions {
	return sessions{open: map[*Session]struct{}{}, users: map[string]usage{}, vhosts: map[string]int64{}}
}

// enter adds a session, and counts it unless it is brief. The session that it replaces may be nil.
// Errors: ErrVHostConnections, ErrUserConnections.
func (ss *sessions) enter(s, instead *Session) error {
	perVHost, perUser := s.vhost.Limit(catalog.LimitConnections), s.b.set.Catalog.UserLimit(s.User, catalog.LimitConnections)
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if !s.brief {
		if err := ss.count(s, instead, perVHost, perUser); err != nil {
			return err
		}
	}
	ss.open[s] = struct{}{}
	return nil
}

// count counts a session for its virtual host and its user, if their limits allow it. mu is held.
func (ss *sessions) count(s, instead *Session, perVHost, perUser int64) error {
	e := &failure.Error{Kind: "vhost", Name: s.vhost.Name, VHost: s.vhost.Name, User: s.User}
	u := ss.users[s.User]
	inVHost, ofUser := ss.vhosts[s.vhost.Name], u.sessions
	if _, ok := ss.open[instead]; ok {
		if instead.vhost.Name == s.vhost.Name {
			inVHost--
		}
		if instead.User == s.User {
			ofUser--
		}
	}
	if perVHost >= 0 && inVHost >= perVHost {
		e.Err, e.Current = failure.ErrVHostConnections, perVHost
		return e
	}
	if perUser >= 0 && ofUser >= perUser {
		e.Err, e.Current = failure.ErrUserConnections, perUser
		return e
	}
	u.sessions++
	ss.users[s.User] = u
	ss.vhosts[s.vhost.Name]++
	return nil
}

// leave undoes enter and closes the session's channels. It may be called again.
func (ss *sessions) leave(s *Session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if _, ok := ss.open[s]; !ok {
		return
	}
	delete(ss.open, s)
	if s.brief {
		return
	}
	u := ss.users[s.User]
	u.sessions--
	u.channels -= s.channels
	s.channels = 0
	if ss.users[s.User] = u; u.sessions == 0 {
		delete(ss.users, s.User)
	}
	if ss.vhosts[s.vhost.Name]--; ss.vhosts[s.vhost.Name] == 0 {
		delete(ss.vhosts, s.vhost.Name)
	}
}

// evict asks the matching sessions to end.
func (ss *sessions) evict(reason error, match func(*Session) bool) {
	var out []*Session
	ss.mu.Lock()
	for s := range ss.open {
		if s.evict != nil && match(s) {
			out = append(out, s)
		}
	}
	ss.mu.Unlock()
	for _, s := range out {
		s.evict(reason)
	}
}

// OpenChannel counts a channel of the session's user. Errors: ErrUserChannels.
func (s *Session) OpenChannel() error {
	if s.Operator {
		return nil
	}
	limit := s.b.set.Catalog.UserLimit(s.User, catalog.LimitChannels)
	ss := &s.b.sessions
	ss.mu.Lock()
	defer ss.mu.Unlock()
	u := ss.users[s.User]
	if limit >= 0 && u.channels >= limit {
		return &failure.Error{Err: failure.ErrUserChannels, Kind: "user", Name: s.User, VHost: s.vhost.Name, User: s.User, Current: limit}
	}
	u.channels++
	s.channels++
	ss.users[s.User] = u
	return nil
}

// CloseChannel undoes OpenChannel.
func (s *Session) CloseChannel() {
	ss := &s.b.sessions
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s.channels == 0 {
		return
	}
	s.channels--
	u := ss.users[s.User]
	u.channels--
	ss.users[s.User] = u
}
