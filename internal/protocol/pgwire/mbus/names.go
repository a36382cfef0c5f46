package mbus

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// maxName is the maximum length of the name of a queue or a consumer.
const maxName = 32

// checkName rejects names that cannot be part of a function name.
func checkName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return pgerror.New(pgerror.RaiseException, "Name %s too long (%d chars max) or contains illegal chars", name, maxName)
	}
	return nil
}

// generated is a function that exists because of a queue.
type generated struct {
	kind     string // one of generatedKinds
	queue    string
	consumer string // for kinds that include one
}

// generatedKinds are the prefixes of generated function names. If a name matches several kinds, the
// existing queues decide.
var generatedKinds = []struct {
	kind       string
	byConsumer bool
}{
	{"post_", false}, {"consume_", true}, {"consumen_", true}, {"take_from_", true}, {"peek_", false}, {"clear_queue_", false}, {"run_on_", false},
}

// resolve returns the queue and consumer that the name of a generated function stands for. They
// must exist.
func (s *Session) resolve(name string) (g generated, ok bool) {
	for _, k := range generatedKinds {
		rest, fits := strings.CutPrefix(name, k.kind)
		if !fits {
			continue
		}
		if !k.byConsumer {
			if s.isQueue(rest) && (k.kind != "run_on_" || s.hasRun(rest)) {
				return generated{kind: k.kind, queue: rest}, true
			}
			continue
		}
		if q, c, found := s.splitBy(rest); found {
			return generated{k.kind, q, c}, true
		}
	}
	return generated{}, false
}

const by = "_by_"

// splitBy splits "queue_by_consumer", where both names may contain "_by_". It returns the shortest
// existing queue that has such a consumer.
func (s *Session) splitBy(name string) (queueName, consumer string, ok bool) {
	for at := 0; ; {
		i := strings.Index(name[at:], by)
		if i < 0 {
			return "", "", false
		}
		at += i
		queueName, consumer = name[:at], name[at+len(by):]
		if s.isQueue(queueName) && s.isConsumer(queueName, consumer) {
			return queueName, consumer, true
		}
		at++
	}
}

func (s *Session) hasRun(queueName string) bool {
	return s.known().runs[queueName] && !s.hidden(runKind+queueName)
}

// isTemporary reports whether a name is that of a temporary queue. The consumer queues of a queue
// called temp have one dot less.
func isTemporary(queueName string) bool {
	rest, ok := strings.CutPrefix(queueName, tempPrefix)
	return ok && strings.Contains(rest, ".")
}

const tempPrefix = "temp."
