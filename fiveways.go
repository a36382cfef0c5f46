// Package fiveways embeds a broker in a Go program or a test: the same engine and protocols as the
// fiveways binary, in this process.
//
//	b, err := fiveways.Start(fiveways.Options{Data: dir, AMQP: "127.0.0.1:0"})
//	if err != nil { … }
//	defer b.Stop(context.Background())
//	conn, err := amqp091.Dial(b.AMQPURL())
package fiveways

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/inprocess"
	"fiveways.dev/fiveways/internal/server"
	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/worker"
)

// Options configure where the broker keeps its data and what it serves.
type Options struct {
	Data   string       // folder, created if it is missing
	AMQP   string       // listen address; "": 127.0.0.1 with a free port, "off": none
	SQL    string       // listen address of the PostgreSQL protocol; "" or "off": none
	Redis  string       // listen address of the Redis protocol; "" or "off": none
	Etcd   string       // listen address of the etcd v3 API; "" or "off": none
	HTTP   string       // listen address of the HTTP API; "" or "off": none
	Sync   string       // what a confirm waits for: "always" (the default), "batch" or "os"
	Logger *slog.Logger // nil: no log
}

// Broker is a running broker.
type Broker struct{ srv *server.Server }

// Start starts a broker and returns when it serves. It returns an error if an option is out of
// range, an address is taken or the folder is in use.
func Start(o Options) (*Broker, error) {
	cfg := config.Default()
	cfg.Data = o.Data
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = "127.0.0.1:0", config.Off, config.Off, config.Off, config.Off, config.Off
	if o.SQL != "" {
		cfg.SQL = o.SQL
	}
	if o.Redis != "" {
		cfg.Redis = o.Redis
	}
	if o.Etcd != "" {
		cfg.Etcd = o.Etcd
	}
	if o.HTTP != "" {
		cfg.HTTP = o.HTTP
	}
	if o.AMQP != "" {
		cfg.AMQP = o.AMQP
	}
	if o.Sync != "" {
		cfg.Sync = o.Sync
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	srv, err := server.Start(cfg, "embedded", log)
	if err != nil {
		return nil, err
	}
	return &Broker{srv}, nil
}

// AMQPURL returns the URL for AMQP clients, "" if AMQP is off.
func (b *Broker) AMQPURL() string {
	addr, ok := b.srv.Addrs()["amqp"]
	if !ok {
		return ""
	}
	return fmt.Sprintf("amqp://guest:guest@%s/", addr)
}

// SQLURL returns the URL for PostgreSQL clients, "" if SQL is off.
func (b *Broker) SQLURL() string {
	addr, ok := b.srv.Addrs()["sql"]
	if !ok {
		return ""
	}
	return fmt.Sprintf("postgres://guest@%s/fiveways?sslmode=disable", addr)
}

// RedisURL returns the URL for Redis clients, "" if the protocol is off.
func (b *Broker) RedisURL() string {
	addr, ok := b.srv.Addrs()["redis"]
	if !ok {
		return ""
	}
	return fmt.Sprintf("redis://guest:guest@%s/0", addr)
}

// EtcdURL returns the URL for etcd clients, "" if the API is off.
func (b *Broker) EtcdURL() string {
	addr, ok := b.srv.Addrs()["etcd"]
	if !ok {
		return ""
	}
	return "http://" + addr
}

// HTTPURL returns the URL of the HTTP API, "" if it is off. Requests log in as user guest with
// password guest.
func (b *Broker) HTTPURL() string {
	addr, ok := b.srv.Addrs()["http"]
	if !ok {
		return ""
	}
	return "http://" + addr
}

// Jobs returns the broker's job queues in the virtual host "/" for workers in this process, without
// network, login and permission checks. Closing it ends waiting calls, but not the broker. Stopping
// the broker ends them too.
func (b *Broker) Jobs() worker.Jobs { return inprocess.New(b.srv.Broker(), "/") }

// Semaphore is a task semaphore: it lets the N highest-priority tasks run.
type Semaphore = semaphore.Semaphore

// Semaphores returns the broker's task semaphores in the virtual host "/" for programs in this
// process, without network, login and permission checks. Closing it ends waiting calls, but not the
// broker. Stopping the broker ends them too.
func (b *Broker) Semaphores() *semaphore.Manager {
	return semaphore.New(inprocess.NewSemaphores(b.srv.Broker(), b.srv.Semaphores(), "/"))
}

// Stop sends outstanding confirms, closes client connections (by force when ctx ends), and closes
// the data cleanly. It may be called twice.
func (b *Broker) Stop(ctx context.Context) error { return b.srv.Drain(ctx) }
