package definitions

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

var (
	vhostLimits = []string{catalog.LimitConnections, catalog.LimitQueues, catalog.LimitPublishRate, catalog.LimitPublishBytes}
	userLimits  = []string{catalog.LimitConnections, catalog.LimitChannels, catalog.LimitPublishRate, catalog.LimitPublishBytes}
)

// SetVHostLimit sets a limit of a virtual host: catalog.LimitConnections, catalog.LimitQueues,
// catalog.LimitPublishRate or LimitPublishBytes. What already exceeds it stays. Errors:
// ErrVHostNotFound, ErrInvalidLimit, ErrLogFailed.
func (a *Admin) SetVHostLimit(vhost, limit string, n int64) error {
	return a.limitVHost(vhost, limit, n, false)
}

// ClearVHostLimit removes a limit. Errors: ErrVHostNotFound, ErrInvalidLimit, ErrLogFailed.
func (a *Admin) ClearVHostLimit(vhost, limit string) error {
	return a.limitVHost(vhost, limit, 0, true)
}

func (a *Admin) limitVHost(vhost, limit string, n int64, remove bool) error {
	if !slices.Contains(vhostLimits, limit) {
		return &failure.Error{Err: failure.ErrInvalidLimit, Kind: "vhost", Name: vhost, VHost: vhost, Detail: limit}
	}
	return a.changeAccess(func() (*catalog.AccessFact, error) {
		v, ok := a.state.VHost(vhost)
		if !ok {
			return nil, catalog.VHostNotFound(vhost)
		}
		f := v.Fact()
		f.Limits = f.Limits.With(limit, n, remove)
		return &catalog.AccessFact{VHost: &f}, nil
	})
}

// SetUserLimit sets a limit of a user: catalog.LimitConnections, catalog.LimitChannels,
// catalog.LimitPublishRate or LimitPublishBytes. What already exceeds it stays. Errors:
// ErrUserNotFound, ErrInvalidLimit, ErrLogFailed.
func (a *Admin) SetUserLimit(name, limit string, n int64) error {
	return a.limitUser(name, limit, n, false)
}

// ClearUserLimit removes a limit. Errors: ErrUserNotFound, ErrInvalidLimit, ErrLogFailed.
func (a *Admin) ClearUserLimit(name, limit string) error { return a.limitUser(name, limit, 0, true) }

func (a *Admin) limitUser(name, limit string, n int64, remove bool) error {
	if !slices.Contains(userLimits, limit) {
		return &failure.Error{Err: failure.ErrInvalidLimit, Kind: "user", Name: name, User: name, Detail: limit}
	}
	return a.editUser(name, func(f *catalog.UserFact) { f.Limits = f.Limits.With(limit, n, remove) })
}
