package brokeraddr

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

// NetworkHint returns the hint for an error of any protocol that points to a wrong host or to a
// port without TLS, or "" for other errors.
func NetworkHint(err error) string {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "The machine of that name is not known here: look at the host in the URL."
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "That port does not speak TLS: its URL begins with http:// or amqp://, without the s."
	}
	return ""
}

const amqpPort = "Is that the port of AMQP, 5672 by default? The broker prints the addresses of its protocols when it starts."

// amqpHints maps a part of an error's text to a hint. The first match counts.
var amqpHints = []struct{ part, hint string }{
	{"ACCESS_REFUSED - Login", "The user or the password is wrong, or that user may not log in from here. `fiveways user list` shows the users."},
	{"NOT_ALLOWED - vhost", "The end of the URL names the virtual host; without one it is `/`. `fiveways vhost list` shows them."},
	{"NOT_ALLOWED - access to vhost", "`fiveways permission set USER .* .* .* --vhost NAME` gives a user access to a virtual host."},
	{"ACCESS_REFUSED", "`fiveways permission list` shows what the user may do, `fiveways permission set` gives more."},
	{"amqp bench: read: read tcp", amqpPort},
	{"Exception (501) Reason: \"read tcp", amqpPort},
}

// AMQPHint returns the hint for a broker's AMQP error, or "" if none is known.
func AMQPHint(err error) string {
	for _, h := range amqpHints {
		if strings.Contains(err.Error(), h.part) {
			return h.hint
		}
	}
	return ""
}
