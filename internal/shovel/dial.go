package shovel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	dialPatience = 10 * time.Second
	// heartbeat detects a dead peer within about twice this time.
	heartbeat = 10 * time.Second
)

// errURI is the error for an invalid URI. It does not repeat the URI, which may contain a password.
var errURI = errors.New("not a valid AMQP URI: amqp(s)://user:password@host:port/vhost")

// dial connects to a broker until ctx is done. As in RabbitMQ, the URI may name files of
// certificates (cacertfile, certfile, keyfile).
func (o *Options) dial(ctx context.Context, uri, side string) (*amqp.Connection, error) {
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(o.Name + ": " + side)
	u, err := url.Parse(uri)
	if err == nil {
		_, err = amqp.ParseURI(uri)
	}
	if err != nil {
		return nil, fmt.Errorf("shovel: %s: %w", side, errURI)
	}
	config := amqp.Config{Heartbeat: heartbeat, Properties: properties, Dial: func(network, address string) (net.Conn, error) {
		return guarded((&net.Dialer{Timeout: dialPatience}).DialContext(ctx, network, address))
	}}
	if u.Host == "" && o.Local != nil {
		config.Dial = func(string, string) (net.Conn, error) { return guarded(o.Local(ctx)) }
		if u.User == nil {
			config.SASL = []amqp.Authentication{&amqp.PlainAuth{}}
		}
	}
	c, err := amqp.DialConfig(uri, config)
	if err != nil {
		return nil, fmt.Errorf("shovel: %s: %w", side, err)
	}
	return c, nil
}

// guarded sets a deadline for the handshake on a new connection. The library removes it.
func guarded(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(dialPatience)); err != nil {
		return nil, err
	}
	return conn, nil
}

// WithoutLogin returns a URI for display, without user, password and query. It returns "" if the
// URI is invalid.
func WithoutLogin(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}
