package overview

import (
	"net"
	"strconv"
	"strings"

	"fiveways/internal/protocol"
)

// listener is an address at which a protocol is served, in RabbitMQ's words.
type listener struct {
	Node     string `json:"node"`
	Protocol string `json:"protocol"`
	Address  string `json:"ip_address"`
	Port     int    `json:"port"`
	Options  object `json:"socket_opts"`
}

// encrypted is what RabbitMQ, or everybody, calls the protocols over TLS.
var encrypted = map[string]string{"amqp": "amqp/ssl", "http": "https"}

// shownListeners are all addresses. One that takes TLS, too, is there a second time.
func (p *api) shownListeners() []listener {
	out := []listener{}
	for _, e := range p.o.Served() {
		host, port := place(&e)
		out = append(out, listener{p.o.Name, e.Protocol, host, port, object{}})
		if e.TLS {
			name := encrypted[e.Protocol]
			if name == "" {
				name = e.Protocol + "/ssl"
			}
			out = append(out, listener{p.o.Name, name, host, port, object{}})
		}
	}
	return out
}

func place(e *protocol.Endpoint) (host string, port int) {
	host, text, err := net.SplitHostPort(e.Address)
	if err != nil {
		return e.Address, 0
	}
	port, _ = strconv.Atoi(text) //nolint:errcheck // an address that is listened on
	return host, port
}

// contexts are where the HTTP API is served.
func (p *api) contexts() []object {
	out := []object{}
	for _, e := range p.o.Served() {
		if e.Protocol != "http" {
			continue
		}
		host, port := place(&e)
		out = append(out, object{
			"node": p.o.Name, "description": "Fiveways management", "path": "/", "ip": host, "port": strconv.Itoa(port), "ssl_opts": []any{}, "cowboy_opts": "[]",
		})
	}
	return out
}

// way is an address with something to try.
type way struct {
	Protocol string `json:"protocol"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	TLS      bool   `json:"tls"`
	Command  string `json:"command"` // connects from this machine
}

// commands connect to an address, with its host and port for %h and %p. The first is without TLS.
var commands = map[string][2]string{
	"amqp":    {"amqp-publish --url amqp://guest:guest@%h:%p/%2F -r q -b hello", "amqp-publish --url amqps://guest:guest@%h:%p/%2F -r q -b hello"},
	"sql":     {`psql "host=%h port=%p user=guest dbname=/"`, `psql "host=%h port=%p user=guest dbname=/ sslmode=require"`},
	"redis":   {"redis-cli -h %h -p %p", "redis-cli -h %h -p %p --tls --insecure"},
	"etcd":    {"etcdctl --endpoints=%h:%p get --prefix /", "etcdctl --endpoints=https://%h:%p --insecure-skip-tls-verify get --prefix /"},
	"http":    {"curl -u guest:guest http://%h:%p/api/overview", "curl -k -u guest:guest https://%h:%p/api/overview"},
	"metrics": {"curl http://%h:%p/metrics", "curl -k https://%h:%p/metrics"},
}

func (p *api) listeners() []way {
	out := []way{}
	for _, e := range p.o.Served() {
		host, port := place(&e)
		out = append(out, way{e.Protocol, host, port, e.TLS, command(&e, host, port)})
	}
	return out
}

// command is a command that connects to an address from this machine.
func command(e *protocol.Endpoint, host string, port int) string {
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	text := commands[e.Protocol][0]
	if e.TLS {
		text = commands[e.Protocol][1]
	}
	return strings.NewReplacer("%h", host, "%p", strconv.Itoa(port)).Replace(text)
}
