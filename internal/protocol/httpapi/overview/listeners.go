package overview

import (
	"cmp"
	"net"
	"net/http"
	"strconv"

	"fiveways.dev/fiveways/internal/protocol"
)

// listener is an address at which a protocol is served, in RabbitMQ's form.
type listener struct {
	Node     string `json:"node"`
	Protocol string `json:"protocol"`
	Address  string `json:"ip_address"`
	Port     int    `json:"port"`
	Options  object `json:"socket_opts"`
}

// encrypted are the names of the protocols over TLS, RabbitMQ's or the usual ones.
var encrypted = map[string]string{"amqp": "amqp/ssl", "http": "https"}

// shownListeners returns the addresses of this node.
func (p *api) shownListeners() []listener { return listenersOf(p.o.Name, p.o.Served()) }

// allListeners returns the addresses of all nodes that are up.
func (p *api) allListeners() []listener {
	out := p.shownListeners()
	for _, m := range p.o.Members() {
		if m.Name() != p.o.Name && m.Up && m.About != nil {
			out = append(out, listenersOf(m.Name(), m.About.Endpoints)...)
		}
	}
	return out
}

// listenersOf returns the addresses of a node. An address that also accepts TLS is listed twice.
func listenersOf(node string, served []protocol.Endpoint) []listener {
	out := []listener{}
	for _, e := range served {
		host, port := place(&e)
		out = append(out, listener{node, e.Protocol, host, port, object{}})
		if e.TLS {
			out = append(out, listener{node, cmp.Or(encrypted[e.Protocol], e.Protocol+"/ssl"), host, port, object{}})
		}
	}
	return out
}

func place(e *protocol.Endpoint) (host string, port int) {
	host, text, err := net.SplitHostPort(e.Address)
	if err != nil {
		return e.Address, 0
	}
	port, _ = strconv.Atoi(text) //nolint:errcheck // the address of a listener has a port
	return host, port
}

// contexts returns the addresses of the HTTP API.
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

// way is an address with a command to try it.
type way struct {
	Protocol string `json:"protocol"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	TLS      bool   `json:"tls"`
	Command  string `json:"command"` // tries the protocol from this machine
}

// servedHere returns the addresses of the node to which the client is connected, and its name.
func (p *api) servedHere(r *http.Request) (node string, served []protocol.Endpoint) {
	if p.o.Membership != nil {
		s := p.o.Membership.Status()
		if m := s.Member(reached(r, &s)); m != nil && m.Node != s.Node && m.About != nil {
			return m.Name(), m.About.Endpoints
		}
	}
	return p.o.Name, p.o.Served()
}

// listeners returns the addresses of the node to which the client is connected.
func (p *api) listeners(r *http.Request) []way {
	out := []way{}
	_, served := p.servedHere(r)
	for _, e := range served {
		host, port := place(&e)
		out = append(out, way{e.Protocol, host, port, e.TLS, e.Try()})
	}
	return out
}
