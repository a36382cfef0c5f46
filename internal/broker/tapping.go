package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// SetTapped starts or stops the tap of a virtual host. While it is tapped, every message that a
// session publishes or receives there is reported: Options.Tap creates a message from it, which is
// published to the exchange routing.Tap, transient and at most once. Messages of that exchange are
// not reported, nor what the engine does by itself: dead letters, ServerPublish, messages that
// leave an exchange. The tap ends with the process. Errors: ErrVHostNotFound.
func (b *Broker) SetTapped(vhost string, on bool) error {
	v, ok := b.vhost(vhost)
	if !ok {
		return catalog.VHostNotFound(vhost)
	}
	if v.Tap(on) {
		b.log.Info("tracing of a virtual host was switched on or off", "vhost", vhost, "on", on)
	}
	return nil
}

// Tapped reports whether TapPublish has any effect.
func (s *Session) Tapped() bool { return s.vhost.Tapped() }

// TapPublish reports a message to the tap before the session publishes it. Publish and the commands
// call it themselves, unless Publish.Told is set.
func (s *Session) TapPublish(channel int, env message.Envelope, also [][]byte, to shard.Targets) {
	if !s.Tapped() {
		return
	}
	t := shard.Tapped{Env: env, VHost: s.vhost.Name, User: s.client.User, Client: s.client.Name, Channel: channel, Also: also, Queues: to.Names()}
	s.vhost.Tell(&t, s.gather)
}
