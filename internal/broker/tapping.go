package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// SetTapped starts or stops the tap of a virtual host. While it is tapped, Options.Tap makes a
// message of each message that a session publishes or is handed there, and that is published to the
// exchange routing.Tap, transient and at most once. Messages of that exchange are not tapped, nor
// is what the engine does by itself: dead letters, ServerPublish, messages that leave an exchange.
// The tap does not outlast the process. Errors: ErrVHostNotFound.
func (b *Broker) SetTapped(vhost string, on bool) error {
	v, ok := b.vhost(vhost)
	if !ok {
		return catalog.VHostNotFound(vhost)
	}
	if v.Tap(on) {
		b.log.Info("tracing of a virtual host is switched", "vhost", vhost, "on", on)
	}
	return nil
}

// Tapped reports whether TapPublish does anything.
func (s *Session) Tapped() bool { return s.vhost.Tapped() }

// TapPublish reports a message to the tap before the session publishes it. Publish and the commands
// do so themselves, unless Publish.Told says that it was done.
func (s *Session) TapPublish(channel int, env message.Envelope, also [][]byte, to shard.Targets) {
	if !s.Tapped() {
		return
	}
	t := shard.Tapped{Env: env, VHost: s.vhost.Name, User: s.client.User, Client: s.client.Name, Channel: channel, Also: also, Queues: to.Names()}
	s.vhost.Tell(&t, s.gather)
}
