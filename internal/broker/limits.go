package broker

import "slices"

var (
	vhostLimits = []string{LimitConnections, LimitQueues, LimitPublishRate, LimitPublishBytes}
	userLimits  = []string{LimitConnections, LimitChannels, LimitPublishRate, LimitPublishBytes}
)

// SetVHostLimit sets a limit of a virtual host: LimitConnections, LimitQueues, LimitPublishRate or LimitPublishBytes. What is beyond it already stays.
// Errors: ErrVHostNotFound, ErrInvalidLimit, ErrLogFailed.
func (b *Broker) SetVHostLimit(vhost, limit string, n int64) error {
	return b.limitVHost(vhost, limit, n, false)
}

// ClearVHostLimit takes a limit away. Errors: ErrVHostNotFound, ErrInvalidLimit, ErrLogFailed.
func (b *Broker) ClearVHostLimit(vhost, limit string) error {
	return b.limitVHost(vhost, limit, 0, true)
}

func (b *Broker) limitVHost(vhost, limit string, n int64, remove bool) error {
	if !slices.Contains(vhostLimits, limit) {
		return &Error{Err: ErrInvalidLimit, Kind: "vhost", Name: vhost, VHost: vhost, Detail: limit}
	}
	return b.changeAccess(func() (*accessFact, error) {
		v, ok := b.catalog.vhost(vhost)
		if !ok {
			return nil, vhostNotFound(vhost)
		}
		f := v.info
		f.Limits = f.Limits.with(limit, n, remove)
		return &accessFact{VHost: &f}, nil
	})
}

// SetUserLimit sets a limit of a user: LimitConnections, LimitChannels, LimitPublishRate or LimitPublishBytes. What is beyond it already stays. Errors:
// ErrUserNotFound, ErrInvalidLimit, ErrLogFailed.
func (b *Broker) SetUserLimit(name, limit string, n int64) error {
	return b.limitUser(name, limit, n, false)
}

// ClearUserLimit takes a limit away. Errors: ErrUserNotFound, ErrInvalidLimit, ErrLogFailed.
func (b *Broker) ClearUserLimit(name, limit string) error { return b.limitUser(name, limit, 0, true) }

func (b *Broker) limitUser(name, limit string, n int64, remove bool) error {
	if !slices.Contains(userLimits, limit) {
		return &Error{Err: ErrInvalidLimit, Kind: "user", Name: name, User: name, Detail: limit}
	}
	return b.editUser(name, func(f *userFact) { f.Limits = f.Limits.with(limit, n, remove) })
}

// limit is a limit of the virtual host; below 0 is none.
func (v *VHost) limit(name string) int64 {
	v.b.rules.mu.RLock()
	defer v.b.rules.mu.RUnlock()
	return v.info.Limits.get(name)
}

// roomForQueue tells whether one more queue may be declared. catalog.mu is held.
func (v *VHost) roomForQueue(name string) error {
	if n := v.limit(LimitQueues); n >= 0 && v.queues.Load() >= n {
		return &Error{Err: ErrQueueLimit, Kind: "queue", Name: name, VHost: v.Name, Current: n}
	}
	return nil
}
