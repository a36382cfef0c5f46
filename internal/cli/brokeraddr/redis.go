package brokeraddr

import (
	"errors"
	"io"
	"net"
	"strings"
)

// OverRedis marks an error of a command that uses the Redis protocol, so that a hint can be found
// from the server's text. nil stays nil.
func OverRedis(err error) error {
	if err == nil {
		return nil
	}
	return redisError{err}
}

type redisError struct{ error }

func (e redisError) Unwrap() error { return e.error }

// redisHints maps a part of an error's text to a hint. The first match counts.
var redisHints = []struct{ part, hint string }{
	{"NOAUTH", "It asks for a login. The URL has user and password: redis://user:password@host:port."},
	{"unauthenticated", "It asks for a login. The URL has user and password: redis://user:password@host:port."},
	{"WRONGPASS", "The URL has user and password: redis://user:password@host:port. `fiveways user list` shows the users of a broker."},
	{"NOPERM", "`fiveways permission list` shows what the user may do, `fiveways permission set` gives more: jobs need configure, write and read on the queue."},
	{"virtual host", "The end of the URL names the virtual host; without one it is `/`. `fiveways vhost list` shows them."},
	{"DB index", "The end of the URL names the virtual host; without one it is `/`. `fiveways vhost list` shows them."},
	{"unknown command 'JOB.", "That is a Redis, which has no such jobs. The broker prints its address when it starts, 127.0.0.1:6380 by default; " +
		"for Carmine's queues on a Redis the URL begins with carmine://."},
	{"unknown command", "That is no Redis with scripts and hashes, as Carmine's queues need it: the broker itself has none. A Redis usually has port 6379."},
	{"TLS handshake", "The server does not speak TLS, nor does this version of the broker: redis://, not rediss://."},
	{"invalid port", "A port is a number up to 65535; that of the broker is 6380 by default."},
	{"no route to host", "Is the address right, and the machine up?"},
	{"i/o timeout", "Is the address right, and is it the port of the Redis protocol (6380 by default)?"},
}

const wrongPort = "What answers there does not speak the Redis protocol. The broker prints the address of each of its protocols when it starts; " +
	"that of Redis is 127.0.0.1:6380 by default."

// RedisHint returns the hint for an error marked by OverRedis, or "" if none is known.
func RedisHint(err error) string {
	if !errors.As(err, new(redisError)) {
		return ""
	}
	text := err.Error()
	for _, h := range redisHints {
		if strings.Contains(text, h.part) {
			return h.hint
		}
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(text, "can't parse"), strings.Contains(text, "invalid reply"):
		return wrongPort
	case errors.As(err, new(*net.DNSError)):
		return "The machine of that name is not known here: look at the URL."
	}
	return ""
}
