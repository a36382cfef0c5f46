package overview

import (
	"cmp"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// isShown reports whether a connection is listed: not before the login, and not if it belongs to
// this API, whose connections come and go with requests.
func isShown(c *protocol.Client) bool {
	return c.Login() != nil && c.Protocol != "http" && c.Protocol != "metrics"
}

// connections returns the connections that the caller may see and for which keep returns true.
func (p *api) connections(r *http.Request, keep func(*protocol.Client) bool) (list []*protocol.Client) {
	caller := rest.CallerOf(r.Context())
	for _, c := range p.o.Clients.All() {
		if keep(c) && (caller.Monitors() || c.Login().User == caller.User) {
			list = append(list, c)
		}
	}
	return list
}

func (p *api) connectionPaths() {
	p.Get(rest.Management, "/api/connections", func(r *http.Request) (any, error) {
		return p.listConnections(r, p.connections(r, isShown))
	})
	p.Get(rest.Management, "/api/vhosts/{vhost}/connections", func(r *http.Request) (any, error) {
		vhost := rest.Name(r, "vhost")
		return p.listConnections(r, p.connections(r, func(c *protocol.Client) bool { return isShown(c) && c.Login().VHost == vhost }))
	})
	p.Get(rest.Management, "/api/connections/username/{user}", func(r *http.Request) (any, error) {
		list, err := p.ofUser(r)
		if err != nil {
			return nil, err
		}
		return p.listConnections(r, list)
	})
	p.Get(rest.Management, "/api/connections/{name}", func(r *http.Request) (any, error) {
		c, err := p.connection(r)
		if err != nil {
			return nil, err
		}
		return p.showConnection(c, query(r)), nil
	})
	// A pattern with channels would conflict with the pattern for user names.
	p.Get(rest.Management, "/api/connections/{name}/{part}", func(r *http.Request) (any, error) {
		if rest.Name(r, "part") != "channels" {
			return nil, rest.ErrNotThere
		}
		c, err := p.connection(r)
		if err != nil {
			return nil, err
		}
		return p.listChannels(r, channelsOf(c))
	})
	p.Delete(rest.Management, "/api/connections/username/{user}", func(r *http.Request) error {
		list, err := p.ofUser(r)
		if err == nil {
			err = p.end(r, list...)
		}
		return err
	})
	p.Delete(rest.Management, "/api/connections/{name}", func(r *http.Request) error {
		c, err := p.connection(r)
		if err == nil {
			err = p.end(r, c)
		}
		return err
	})
}

var errNotYours = rest.Fail(http.StatusUnauthorized, "not_authorised", "User not authorised to access object")

// ofUser returns the connections of the user in the path. A caller may ask for its own.
func (p *api) ofUser(r *http.Request) ([]*protocol.Client, error) {
	user, caller := rest.Name(r, "user"), rest.CallerOf(r.Context())
	if !caller.Monitors() && caller.User != user {
		return nil, errNotYours
	}
	return p.connections(r, func(c *protocol.Client) bool { return isShown(c) && c.Login().User == user }), nil
}

// connection returns the connection in the path.
func (p *api) connection(r *http.Request) (*protocol.Client, error) {
	name, caller := rest.Name(r, "name"), rest.CallerOf(r.Context())
	for _, c := range p.o.Clients.All() {
		if c.Login() == nil || c.Name() != name {
			continue
		}
		if !caller.Monitors() && c.Login().User != caller.User {
			return nil, errNotYours
		}
		return c, nil
	}
	return nil, rest.ErrNotThere
}

// end closes connections. Unless the caller is an administrator, all must be its own.
func (p *api) end(r *http.Request, list ...*protocol.Client) error {
	caller := rest.CallerOf(r.Context())
	for _, c := range list {
		if !caller.Administers() && c.Login().User != caller.User {
			return errNotYours
		}
	}
	reason := cmp.Or(protocol.Clipped(strings.TrimSpace(r.Header.Get("X-Reason"))), "Closed via management plugin")
	for _, c := range list {
		p.Log.Info("http: connection closed on request", "request", caller.ID, "user", caller.Name(), "connection", c.Name(), "of", c.Login().User, "reason", reason)
		c.End(reason)
	}
	return nil
}

func (p *api) listConnections(r *http.Request, list []*protocol.Client) (any, error) {
	q := query(r)
	return rest.Listing(r, list, rest.Collection[*protocol.Client, connection]{
		Name: (*protocol.Client).Name,
		Show: func(list []*protocol.Client) ([]connection, error) {
			return rest.List(list, func(c *protocol.Client) connection { return p.showConnection(c, q) }), nil
		},
	})
}

// connection is a connection as RabbitMQ shows it.
type connection struct {
	Name        string `json:"name"`
	Node        string `json:"node"`
	Type        string `json:"type"`
	Protocol    string `json:"protocol"`
	State       string `json:"state"`
	User        string `json:"user"`
	PerformedBy string `json:"user_who_performed_action"`
	VHost       string `json:"vhost"`

	Host      string     `json:"host"`
	Port      int        `json:"port"`
	PeerHost  string     `json:"peer_host"`
	PeerPort  int        `json:"peer_port"`
	Connected int64      `json:"connected_at"` // unix ms
	Given     string     `json:"user_provided_name,omitempty"`
	Client    rest.Table `json:"client_properties"`
	Mechanism string     `json:"auth_mechanism,omitempty"`

	Channels   int `json:"channels"`
	ChannelMax int `json:"channel_max"`
	FrameMax   int `json:"frame_max"`
	Timeout    int `json:"timeout"` // seconds between heartbeats, 0: none

	TLS         bool    `json:"ssl"`
	TLSProtocol *string `json:"ssl_protocol"`
	TLSCipher   *string `json:"ssl_cipher"`
	TLSExchange *string `json:"ssl_key_exchange"`
	TLSHash     *string `json:"ssl_hash"`
	Subject     *string `json:"peer_cert_subject"`
	Issuer      *string `json:"peer_cert_issuer"`
	Validity    *string `json:"peer_cert_validity"`

	Received        int64           `json:"recv_oct"`
	ReceivedDetails monitor.Details `json:"recv_oct_details"`
	Sent            int64           `json:"send_oct"`
	SentDetails     monitor.Details `json:"send_oct_details"`
}

func (p *api) showConnection(c *protocol.Client, q monitor.Query) connection {
	l := c.Login()
	f := p.o.Monitor.ConnectionStats(c.ID, c.In.Load(), c.Out.Load(), q)
	out := connection{
		Name: c.Name(), Node: p.nodeOf(c), Type: "network", Protocol: l.Version, State: c.State(), User: l.User, PerformedBy: l.User, VHost: l.VHost,
		Connected: c.Opened.UnixMilli(), Client: rest.Table(l.Properties), Mechanism: l.Mechanism, Given: given(l),
		Channels: len(c.Channels()), ChannelMax: l.ChannelMax, FrameMax: l.FrameMax, Timeout: int(l.Heartbeat.Seconds()),
		Received: f[0].Value, ReceivedDetails: f[0].Details, Sent: f[1].Value, SentDetails: f[1].Details,
	}
	out.Host, out.Port = rest.HostPort(c.Local)
	out.PeerHost, out.PeerPort = rest.HostPort(c.Peer)
	out.showTLS(c)
	return out
}

// nodeOf returns the node to which a client is connected.
func (p *api) nodeOf(c *protocol.Client) string {
	if c.Node == 0 {
		return p.o.Name
	}
	s := p.o.Membership.Status()
	if m := s.Member(c.Node); m != nil {
		return m.Name()
	}
	return protocol.NodeName(c.Node) // the node was removed
}

// given returns the name that the client gave its connection.
func given(l *protocol.Login) string {
	for _, name := range []string{"connection_name", "application_name"} {
		if v, ok := l.Properties.Get(name); ok {
			if text, ok := v.(string); ok {
				return text
			}
		}
	}
	return ""
}
