package metrics

import (
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// channelGauge is a gauge of channels.
type channelGauge struct {
	name, help string
	value      func(c *protocol.Channel) int
}

var channelGauges = []channelGauge{
	{"channel_consumers", "Consumers of the channel", func(c *protocol.Channel) int { return c.Consumers }},
	{"channel_messages_unacked", "Unsettled deliveries", func(c *protocol.Channel) int { return c.Unacked }},
	{"channel_messages_unconfirmed", "Unconfirmed publishes", func(c *protocol.Channel) int { return c.Unconfirmed }},
	{"channel_messages_uncommitted", "Publishes in open transactions", func(c *protocol.Channel) int { return c.UncommittedMessages }},
	{"channel_acks_uncommitted", "Acknowledgements in open transactions", func(c *protocol.Channel) int { return c.Uncommitted }},
	{"consumer_prefetch", "Prefetch limit of each later consumer", func(c *protocol.Channel) int { return c.Prefetch }},
	{"channel_prefetch", "Prefetch limit of the channel", func(c *protocol.Channel) int { return c.GlobalPrefetch }},
}

// channelCounter is a counter of events on channels.
type channelCounter struct {
	family     string // its family in /metrics/detailed
	name, help string
	value      func(c *monitor.ChannelCounts) uint64
}

// Families of channel counters in /metrics/detailed.
const (
	byExchange = "channel_exchange_metrics"
	byQueue    = "channel_queue_metrics"
)

var channelCounters = []channelCounter{
	{byExchange, "channel_messages_published_total", "Messages published", func(c *monitor.ChannelCounts) uint64 { return c.Published }},
	{byExchange, "channel_messages_confirmed_total", "Messages published and confirmed", func(c *monitor.ChannelCounts) uint64 { return c.Confirmed }},
	{byExchange, "channel_messages_unroutable_returned_total", "Unroutable mandatory messages, which were returned",
		func(c *monitor.ChannelCounts) uint64 { return c.Returned }},
	{byExchange, "channel_messages_unroutable_dropped_total", "Unroutable messages", func(c *monitor.ChannelCounts) uint64 { return c.Dropped }},
	{byQueue, "channel_get_ack_total", "Messages taken by basic.get with manual acknowledgement", func(c *monitor.ChannelCounts) uint64 { return c.Got }},
	{byQueue, "channel_get_total", "Messages taken by basic.get with automatic acknowledgement", func(c *monitor.ChannelCounts) uint64 { return c.GotNoAck }},
	{byQueue, "channel_get_empty_total", "Gets on empty queues", func(c *monitor.ChannelCounts) uint64 { return c.GotNone }},
	{byQueue, "channel_messages_delivered_ack_total", "Messages delivered with manual acknowledgement",
		func(c *monitor.ChannelCounts) uint64 { return c.Delivered }},
	{byQueue, "channel_messages_delivered_total", "Messages delivered with automatic acknowledgement",
		func(c *monitor.ChannelCounts) uint64 { return c.DeliveredNoAck }},
	{byQueue, "channel_messages_redelivered_total", "Messages redelivered",
		func(c *monitor.ChannelCounts) uint64 { return c.Redelivered }},
	{byQueue, "channel_messages_acked_total", "Messages acknowledged", func(c *monitor.ChannelCounts) uint64 { return c.Acked }},
}

// open holds the current connections and their channels.
type open struct {
	clients  []*protocol.Client
	channels [][]protocol.Channel  // of each client
	gone     monitor.ChannelCounts // of closed channels
}

// open reads the connections, again if a channel has closed meanwhile: its counts could be missing,
// or be there twice.
func (s *source) open() (o open) {
	const tries = 5 // on a busy broker channels may close all the time
	clients := s.o.Node.Clients
	for range tries {
		closed := clients.Churn().ChannelsClosed
		o = open{gone: clients.Gone()}
		for _, c := range clients.All() {
			if c.Login() == nil {
				continue
			}
			o.clients = append(o.clients, c)
			o.channels = append(o.channels, c.Channels())
		}
		if clients.Churn().ChannelsClosed == closed {
			break
		}
	}
	return o
}

// each calls fn with every channel and its name.
func (o *open) each(fn func(name string, c *protocol.Channel)) {
	for i, c := range o.clients {
		name := c.Name()
		for j := range o.channels[i] {
			ch := &o.channels[i][j]
			fn(rest.ChannelName(name, ch.Number), ch)
		}
	}
}

// sum returns the sum of the open channels, their number, and how many of them have published.
func (o *open) sum() (sum protocol.Channel, n, publishers int) {
	o.each(func(_ string, c *protocol.Channel) {
		n++
		if c.Counts.Published > 0 {
			publishers++
		}
		sum.Consumers += c.Consumers
		sum.Unacked += c.Unacked
		sum.Unconfirmed += c.Unconfirmed
		sum.UncommittedMessages += c.UncommittedMessages
		sum.Uncommitted += c.Uncommitted
		sum.Prefetch += c.Prefetch
		sum.GlobalPrefetch += c.GlobalPrefetch
		sum.Counts.Add(&c.Counts)
	})
	return sum, n, publishers
}

// sumChannels writes the totals of all channels, including counts of closed channels.
func sumChannels(out *sink, sum *protocol.Channel, all *monitor.ChannelCounts) {
	for _, g := range channelGauges {
		out.gauge(g.name, g.help)(float64(g.value(sum)))
	}
	for _, c := range channelCounters {
		out.counter(c.name, c.help)(float64(c.value(all)))
	}
}

// eachGauge writes the gauges of each channel.
func (o *open) eachGauge(out *sink) {
	for _, g := range channelGauges {
		add := out.gauge(g.name, g.help, "channel")
		o.each(func(name string, c *protocol.Channel) { add(float64(g.value(c)), name) })
	}
}

// eachCounter writes the counters of each channel: those of one family, or all if family is "".
func (o *open) eachCounter(out *sink, family string) {
	for _, k := range channelCounters {
		if family != "" && k.family != family {
			continue
		}
		add := out.counter(k.name, k.help, "channel")
		o.each(func(name string, c *protocol.Channel) { add(float64(k.value(&c.Counts)), name) })
	}
}

// eachConnection writes metrics of each connection.
func (o *open) eachConnection(out *sink, bytes, channels bool) {
	if bytes {
		in := out.counter("connection_incoming_bytes_total", "Bytes that came over the connection", "connection")
		sent := out.counter("connection_outgoing_bytes_total", "Bytes that were sent over the connection", "connection")
		for _, c := range o.clients {
			in(float64(c.In.Load()), c.Name())
			sent(float64(c.Out.Load()), c.Name())
		}
	}
	if channels {
		add := out.gauge("connection_channels", "Channels of the connection", "connection")
		for i, c := range o.clients {
			add(float64(len(o.channels[i])), c.Name())
		}
	}
}

// protocolLabel is RabbitMQ's label for AMQP 0-9-1.
const protocolLabel = "amqp091"

// global writes the totals of messages over AMQP, which are the sums over its channels, including
// closed ones.
func global(out *sink, sum *protocol.Channel, all *monitor.ChannelCounts, publishers int) {
	received := func(name, help string, n uint64) {
		out.counter("global_messages_"+name+"_total", help, "protocol")(float64(n), protocolLabel)
	}
	received("received", "Messages published", all.Published)
	received("received_confirm", "Messages published on channels in confirm mode and answered", all.Confirmed)
	received("confirmed", "Messages confirmed", all.Confirmed)
	received("routed", "Messages routed to queues", all.Published-min(all.Published, all.Returned+all.Dropped))
	received("unroutable_returned", "Unroutable mandatory messages", all.Returned)
	received("unroutable_dropped", "Unroutable messages", all.Dropped)
	handed := func(name, help string, n uint64) {
		out.counter("global_messages_"+name+"_total", help, "protocol", "queue_type")(float64(n), protocolLabel, queueType)
	}
	handed("delivered", "Messages delivered", all.Delivered+all.DeliveredNoAck+all.Got+all.GotNoAck)
	handed("delivered_consume_manual_ack", "Messages delivered with manual acknowledgement", all.Delivered)
	handed("delivered_consume_auto_ack", "Messages delivered with automatic acknowledgement", all.DeliveredNoAck)
	handed("delivered_get_manual_ack", "Messages taken by basic.get with manual acknowledgement", all.Got)
	handed("delivered_get_auto_ack", "Messages taken by basic.get with automatic acknowledgement", all.GotNoAck)
	handed("get_empty", "Gets on empty queues", all.GotNone)
	handed("redelivered", "Messages redelivered", all.Redelivered)
	handed("acknowledged", "Messages acknowledged", all.Acked)
	out.gauge("global_consumers", "Consumers", "protocol")(float64(sum.Consumers), protocolLabel)
	out.gauge("global_publishers", "Channels that have published", "protocol")(float64(publishers), protocolLabel)
}
