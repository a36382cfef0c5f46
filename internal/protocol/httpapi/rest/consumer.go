package rest

import (
	"net"
	"strconv"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/protocol"
)

// Consumer is a consumer as RabbitMQ shows it, in lists of consumers and in the details of queues
// and channels.
type Consumer struct {
	Args     Table          `json:"arguments"`
	Acks     bool           `json:"ack_required"`
	Active   bool           `json:"active"`
	Activity string         `json:"activity_status"` // up, or, with a single active consumer, single_active or waiting
	Channel  ChannelDetails `json:"channel_details"`
	Tag      string         `json:"consumer_tag"`
	Only     bool           `json:"exclusive"`
	Prefetch int            `json:"prefetch_count"`
	Priority int            `json:"priority"`
	Unacked  int            `json:"messages_unacknowledged"`
	Queue    ObjectName     `json:"queue"`
}

// ObjectName is the name of an object in a virtual host.
type ObjectName struct {
	Name  string `json:"name"`
	VHost string `json:"vhost"`
}

// ChannelDetails identifies a channel. For protocols without channels it is the connection and the
// number 0.
type ChannelDetails struct {
	Connection string `json:"connection_name"`
	Name       string `json:"name"`
	Node       string `json:"node"`
	Number     int    `json:"number"`
	PeerHost   string `json:"peer_host"`
	PeerPort   int    `json:"peer_port"`
	User       string `json:"user"`
}

// Consumers converts consumers of the engine to the form of the API. clients are the connections of
// the node.
func Consumers(list []inspect.ConsumerStatus, clients *protocol.Clients, node string) []Consumer {
	byName := map[string]*protocol.Client{}
	if len(list) > 0 {
		for _, c := range clients.All() {
			byName[c.Name()] = c
		}
	}
	return List(list, func(c inspect.ConsumerStatus) Consumer {
		d := ChannelDetails{Connection: c.Session, Name: ChannelName(c.Session, c.Channel), Node: node, Number: c.Channel, User: c.User}
		if client := byName[c.Session]; client != nil {
			d.PeerHost, d.PeerPort = HostPort(client.Peer)
		}
		activity := "up"
		switch {
		case c.Single && c.Active:
			activity = "single_active"
		case c.Single:
			activity = "waiting"
		}
		return Consumer{
			Args: Table(c.Args), Acks: !c.NoAck, Active: c.Active, Activity: activity, Channel: d, Tag: c.Tag, Only: c.Exclusive, Prefetch: c.Prefetch,
			Priority: c.Priority, Unacked: c.Unacked, Queue: ObjectName{c.Queue, c.VHost},
		}
	})
}

// ChannelName returns the name of a channel of a connection, or the name of the connection if the
// protocol has no channels.
func ChannelName(connection string, number int) string {
	if number == 0 {
		return connection
	}
	return connection + " (" + strconv.Itoa(number) + ")"
}

// HostPort splits an address into host and port. For an address without a port it returns a name
// and 0.
func HostPort(a net.Addr) (host string, port int) {
	if a == nil {
		return "", 0
	}
	host, text, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String(), 0
	}
	port, _ = strconv.Atoi(text) //nolint:errcheck // a TCP address has a numeric port
	return host, port
}
