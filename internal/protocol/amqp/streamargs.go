package amqp

import "fiveways/internal/core/message"

// There are no streams here. An argument that only they have asks for something that no other queue does, so it is refused and not ignored, as
// RabbitMQ does for queues of other types.
var (
	streamQueueArgs    = []string{"x-max-age", "x-stream-max-segment-size-bytes", "x-stream-filter-size-bytes"}
	streamConsumerArgs = []string{"x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered"}
)

// refuseStreamArgs refuses those of names that are among args, for a queue that rs names and that is called kind in RabbitMQ.
func refuseStreamArgs(args message.Table, names []string, rs, kind string) error {
	for _, name := range names {
		if _, ok := args.Get(name); ok {
			return notOfType(name, rs, kind)
		}
	}
	return nil
}
