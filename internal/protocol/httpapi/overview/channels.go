package overview

import (
	"net/http"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// channelOf is a channel together with its connection.
type channelOf struct {
	c  *protocol.Client
	ch protocol.Channel
}

func (c channelOf) name() string { return rest.ChannelName(c.c.Name(), c.ch.Number) }

func channelsOf(clients ...*protocol.Client) (list []channelOf) {
	for _, c := range clients {
		for _, ch := range c.Channels() {
			list = append(list, channelOf{c, ch})
		}
	}
	return list
}

func (p *api) channelPaths() {
	p.Get(rest.Management, "/api/channels", func(r *http.Request) (any, error) {
		return p.listChannels(r, channelsOf(p.connections(r, isShown)...))
	})
	p.Get(rest.Management, "/api/vhosts/{vhost}/channels", func(r *http.Request) (any, error) {
		vhost := rest.Name(r, "vhost")
		return p.listChannels(r, channelsOf(p.connections(r, func(c *protocol.Client) bool { return isShown(c) && c.Login().VHost == vhost })...))
	})
	p.Get(rest.Management, "/api/channels/{name}", p.channel)
}

func (p *api) listChannels(r *http.Request, list []channelOf) (any, error) {
	q := query(r)
	return rest.Listing(r, list, rest.Collection[channelOf, channel]{
		Name: channelOf.name,
		Show: func(list []channelOf) ([]channel, error) {
			return rest.List(list, func(c channelOf) channel { return p.showChannel(c, q) }), nil
		},
	})
}

// channel is a channel as RabbitMQ shows it.
type channel struct {
	Name           string            `json:"name"`
	Node           string            `json:"node"`
	Number         int               `json:"number"`
	User           string            `json:"user"`
	PerformedBy    string            `json:"user_who_performed_action"`
	VHost          string            `json:"vhost"`
	State          string            `json:"state"`
	Connection     connectionDetails `json:"connection_details"`
	Consumers      int               `json:"consumer_count"`
	Confirms       bool              `json:"confirm"`
	Transactional  bool              `json:"transactional"`
	Prefetch       int               `json:"prefetch_count"`
	GlobalPrefetch int               `json:"global_prefetch_count"`
	Unacked        int               `json:"messages_unacknowledged"`
	Unconfirmed    int               `json:"messages_unconfirmed"`
	Uncommitted    int               `json:"messages_uncommitted"`
	AcksUncommit   int               `json:"acks_uncommitted"`
	Stats          monitor.Figures   `json:"message_stats,omitempty"`
}

// connectionDetails identifies the connection of a channel.
type connectionDetails struct {
	Name     string `json:"name"`
	PeerHost string `json:"peer_host"`
	PeerPort int    `json:"peer_port"`
}

// oneChannel is a channel with its consumers.
type oneChannel struct {
	channel
	ConsumerDetails []rest.Consumer `json:"consumer_details"`
	Deliveries      []any           `json:"deliveries"` // statistics by queue are not kept
	Publishes       []any           `json:"publishes"`  // statistics by exchange are not kept
}

func (p *api) showChannel(c channelOf, q monitor.Query) channel {
	l := c.c.Login()
	out := channel{
		Name: c.name(), Node: p.o.Name, Number: c.ch.Number, User: l.User, PerformedBy: l.User, VHost: l.VHost, State: c.c.State(),
		Connection: connectionDetails{Name: c.c.Name()}, Consumers: c.ch.Consumers, Confirms: c.ch.Confirms, Transactional: c.ch.Transactional,
		Prefetch: c.ch.Prefetch, GlobalPrefetch: c.ch.GlobalPrefetch, Unacked: c.ch.Unacked, Unconfirmed: c.ch.Unconfirmed,
		Uncommitted: c.ch.UncommittedMessages, AcksUncommit: c.ch.Uncommitted,
		Stats: p.o.Monitor.ChannelStats(monitor.ChannelID{Connection: c.c.ID, Number: c.ch.Number}, &c.ch.Counts, q),
	}
	out.Connection.PeerHost, out.Connection.PeerPort = rest.HostPort(c.c.Peer)
	return out
}

// channel shows the channel in the path.
func (p *api) channel(r *http.Request) (any, error) {
	name, caller := rest.Name(r, "name"), rest.CallerOf(r.Context())
	for _, c := range p.o.Clients.All() {
		if !isShown(c) {
			continue
		}
		for _, ch := range channelsOf(c) {
			if ch.name() != name {
				continue
			}
			if !caller.Monitors() && c.Login().User != caller.User {
				return nil, errNotYours
			}
			return p.withConsumers(r, ch)
		}
	}
	return nil, rest.ErrNotThere
}

func (p *api) withConsumers(r *http.Request, c channelOf) (any, error) {
	all, err := p.consumers(r, c.c.Login().VHost)
	if err != nil {
		return nil, err
	}
	var own []inspect.ConsumerStatus
	for _, k := range all {
		if k.Session == c.c.Name() && k.Channel == c.ch.Number {
			own = append(own, k)
		}
	}
	return oneChannel{p.showChannel(c, query(r)), rest.Consumers(own, p.o.Clients, p.o.Name), []any{}, []any{}}, nil
}
