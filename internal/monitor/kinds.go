package monitor

import (
	"fiveways.dev/fiveways/internal/core/queue"
	"slices"
	"time"
)

// A kind defines which values of an object are sampled, by RabbitMQ's names, and how long they are
// kept. Values kept for Fine are also kept for Coarse, with fewer samples.
type kind struct {
	names []string
	kept  time.Duration
}

var (
	queueKind = kind{append(append([]string{"messages", "messages_ready", "messages_unacknowledged"}, queueStats...), died), time.Minute}
	// The values of an exchange are the messages published to it and the sum of the queues they
	// were routed to.
	exchangeKind   = kind{[]string{"publish_in", "publish_out"}, time.Minute}
	connectionKind = kind{[]string{"recv_oct", "send_oct"}, time.Minute}
	channelKind    = kind{channelStats, time.Minute}
	vhostKind      = kind{append([]string{"messages", "messages_ready", "messages_unacknowledged"}, vhostStats...), 10 * time.Minute}
	totalKind      = kind{append([]string{"messages", "messages_ready", "messages_unacknowledged"}, totalStats...), Fine}
	churnKind      = kind{[]string{
		"connection_created", "connection_closed", "channel_created", "channel_closed", "queue_declared", "queue_created", "queue_deleted",
	}, Fine}
	nodeKind = kind{[]string{
		"mem_used", "fd_used", "sockets_used", "proc_used", "disk_free", "gc_num", "gc_bytes_reclaimed",
		"io_sync_count", "io_sync_time", "io_write_count", "log_bytes", "message_memory", "recv_oct", "send_oct",
	}, Fine}
)

// lengths is how many of the first values of queues, virtual hosts and totals are numbers of
// messages. Statistics of messages follow.
const lengths = 3

var (
	queueStats   = []string{"publish", "deliver_get", "deliver", "deliver_no_ack", "get", "get_no_ack", "get_empty", "redeliver", "ack"}
	vhostStats   = append([]string{"confirm", "return_unroutable", "drop_unroutable"}, queueStats...)
	totalStats   = vhostStats
	channelStats = append([]string{"confirm", "return_unroutable", "drop_unroutable"}, queueStats...)
)

// died is the number of messages of a queue that failed: they were rejected, returned too often, or
// dropped from a full queue. It is used only for trends. It excludes expired messages, because
// expiry is the normal way out of queues that delay messages.
const died = "died"

// index returns the index of a value.
func (k *kind) index(name string) int { return slices.Index(k.names, name) }

// appendQueueStats appends the values of queueStats. published is the number of messages that were
// published.
func appendQueueStats(dst []int64, published uint64, c *queue.Counts) []int64 {
	return append(dst, int64(published), int64(c.HandedOut()), int64(c.Delivered), int64(c.DeliveredNoAck), int64(c.Got), int64(c.GotNoAck),
		int64(c.GotNone), int64(c.Redelivered), int64(c.Acked))
}

// appendLengths appends numbers of messages. Scheduled and blocked messages are not included, as
// with RabbitMQ's delayed exchange.
func appendLengths(dst []int64, ready, unacked int) []int64 {
	return append(dst, int64(ready+unacked), int64(ready), int64(unacked))
}
