package suites

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/oracle"
	"fiveways.dev/fiveways/test/postgres"
	"fiveways.dev/fiveways/test/redisd"
)

// The ports that suites have in their sources.
const (
	ownPort      = "5672"
	ownRedisPort = "6379"
)

// portPatience is how long to wait for such a port while another run of a suite holds it.
const portPatience = 2 * time.Minute

var errPortTaken = errors.New("suites: something else listens on a port that the suite has in its sources")

// server is the broker under test.
type server struct {
	addr     string // host:port of AMQP
	database string // the URL of a database, for a server of SQL
	ctl      ctl
	without  []string // classes that cannot run on this machine
}

// startBroker starts the broker under test on a free port. Fiveways claims to be RabbitMQ, because
// amqp091-go and amqplib skip cases otherwise.
func startBroker(t *testing.T, name string) server {
	t.Helper()
	dir, err := os.MkdirTemp("", "suites-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if name == failsOnFiveways {
		b, err := brokertest.Start(t.Context(), dir, "--amqp-product", "RabbitMQ")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Kill)
		return server{addr: b.Addr(), ctl: (&standIn{binary: brokertest.Binary(t), data: dir}).ctl}
	}
	node, err := oracle.StartRabbitMQ(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return server{addr: node.Addr(), ctl: node.Ctl}
}

// startRedis starts Fiveways on the port of its Redis protocol, or a real Redis.
func startRedis(t *testing.T, name string) server {
	t.Helper()
	if name != failsOnFiveways {
		return server{addr: redisd.Start(t, redisd.Options{})}
	}
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--redis", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return server{addr: b.RedisAddr()}
}

// startPostgres starts Fiveways on the port of its SQL protocol, or a real PostgreSQL.
func startPostgres(t *testing.T, name string) server {
	t.Helper()
	if name != failsOnFiveways {
		return server{database: postgres.Start(t, postgres.Options{})}
	}
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--sql", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return server{database: "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable"}
}

// forwardPort forwards a port of localhost to the broker until the test ends. A machine without
// IPv6 gets only one listener.
func forwardPort(t *testing.T, port, addr string) error {
	t.Helper()
	var listener net.Listener
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(portPatience); ; <-tick.C {
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %v", errPortTaken, err)
		}
	}
	listeners := []net.Listener{listener}
	if listener, err := net.Listen("tcp", "[::1]:"+port); err == nil {
		listeners = append(listeners, listener)
	}
	for _, listener := range listeners {
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				client, err := listener.Accept()
				if err != nil {
					return
				}
				go forward(client, addr)
			}
		}()
	}
	return nil
}

// forward connects a client with the broker until both have ended.
func forward(client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pump(server, client)
	}()
	pump(client, server)
	<-done
}

// pump copies until the source ends, and then closes the destination for writing.
func pump(dst, src net.Conn) {
	io.Copy(dst, src)               //nolint:errcheck // a connection that breaks has ended too
	dst.(*net.TCPConn).CloseWrite() //nolint:errcheck // it may be closed already
}
