package monitor

// Edge is the state of the protocols at a moment.
type Edge struct {
	Connections []Connection
	Channels    []Channel
	GoneIn      map[string]ChannelCounts // of closed channels, by virtual host

	ConnectionsOpened, ConnectionsClosed uint64
	ChannelsOpened, ChannelsClosed       uint64
	Received, Sent                       uint64 // bytes, of all connections ever
}

// Gone returns the counts of all closed channels.
func (e *Edge) Gone() (sum ChannelCounts) {
	for _, c := range e.GoneIn {
		sum.Add(&c)
	}
	return sum
}

// Connection is a connection.
type Connection struct {
	ID             uint64
	Received, Sent uint64 // bytes
}

// ChannelID identifies a channel.
type ChannelID struct {
	Connection uint64
	Number     int
}

// Channel is a channel of a connection.
type Channel struct {
	ID     ChannelID
	VHost  string
	Counts ChannelCounts
}

// ChannelCounts counts events on one or more channels.
type ChannelCounts struct {
	Published, Confirmed      uint64
	Returned                  uint64 // publishes that reached no queue and were returned to the client
	Dropped                   uint64 // publishes that reached no queue and were dropped
	Delivered, DeliveredNoAck uint64
	Got, GotNoAck, GotNone    uint64
	Redelivered               uint64 // included in those delivered and got
	Acked                     uint64
}

// Add adds the counts of another channel.
func (c *ChannelCounts) Add(o *ChannelCounts) {
	c.Published += o.Published
	c.Confirmed += o.Confirmed
	c.Returned += o.Returned
	c.Dropped += o.Dropped
	c.Delivered += o.Delivered
	c.DeliveredNoAck += o.DeliveredNoAck
	c.Got += o.Got
	c.GotNoAck += o.GotNoAck
	c.GotNone += o.GotNone
	c.Redelivered += o.Redelivered
	c.Acked += o.Acked
}

// appendStats appends the values of channelStats.
func (c *ChannelCounts) appendStats(dst []int64) []int64 {
	handedOut := c.Delivered + c.DeliveredNoAck + c.Got + c.GotNoAck
	return append(dst, int64(c.Confirmed), int64(c.Returned), int64(c.Dropped), int64(c.Published), int64(handedOut), int64(c.Delivered),
		int64(c.DeliveredNoAck), int64(c.Got), int64(c.GotNoAck), int64(c.GotNone), int64(c.Redelivered), int64(c.Acked))
}
