package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/routing"
)

// QueueName names a queue.
type QueueName struct{ VHost, Name string }

// DeadLetterQueues returns the queues that may get dead letters of the given queues: those that are
// bound to a dead-letter exchange, limited to the dead-letter routing key if that alone decides. It
// does not follow bindings between exchanges.
func DeadLetterQueues(b *broker.Broker, of func(QueueName) bool) map[QueueName]bool {
	found := map[QueueName]bool{}
	for v := range b.AllVHosts() {
		type end struct {
			exchange, key string // the key is "" if any binding matches
		}
		names, ends := map[routing.QueueID]string{}, map[end]bool{}
		table := v.Table()
		for name, id := range table.Queues() {
			names[id] = name
		}
		for q := range v.Queues() {
			p := q.Policy()
			switch {
			case !p.DeadLetter, !of(QueueName{v.Name, q.Name}):
			case p.DeadLetterExchange == "":
				if _, ok := table.Queue(p.DeadLetterKey); ok && p.DeadLetterKey != q.Name {
					found[QueueName{v.Name, p.DeadLetterKey}] = true
				}
			default:
				at := end{p.DeadLetterExchange, p.DeadLetterKey}
				if x, ok := table.Exchange(at.exchange); ok && x.Spec.Type != routing.TypeDirect {
					at.key = ""
				}
				ends[at] = true
			}
		}
		for at := range ends {
			for binding := range table.BindingsFrom(at.exchange) {
				if name, ok := names[binding.ToQueue]; ok && binding.ToExchange == "" && (at.key == "" || at.key == binding.Key) {
					found[QueueName{v.Name, name}] = true
				}
			}
		}
	}
	return found
}
