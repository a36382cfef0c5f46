package mbus

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// maxName is the longest name of a queue or a consumer.
const maxName = 32

// checkName refuses names that could not be a part of a function's name.
func checkName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return pgerror.New(pgerror.RaiseException, "Name %s too long (%d chars max) or contains illegal chars", name, maxName)
	}
	return nil
}

// generated is a function that is there because a queue is.
type generated struct {
	kind     string // one of generatedKinds
	queue    string
	consumer string // of kinds that name one
}

// generatedKinds are the beginnings of the names of generated functions. None is the beginning of
// another that could be meant: a name that fits two is decided by which queue there is.
var generatedKinds = []struct {
	kind       string
	byConsumer bool
}{
	{"post_", false}, {"consume_", true}, {"consumen_", true}, {"take_from_", true}, {"peek_", false}, {"clear_queue_", false}, {"run_on_", false},
}

// resolve finds what a name of a generated function stands for, among queues and consumers that
// there are.
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

// splitBy parts "queue_by_consumer", where both may have "_by_" in them: the shortest queue that
// there is, with a consumer that there is.
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

// isTemporary reports whether a queue has the name of a temporary one. A queue called temp may have
// consumers: their queues have one dot less.
func isTemporary(queueName string) bool {
	rest, ok := strings.CutPrefix(queueName, tempPrefix)
	return ok && strings.Contains(rest, ".")
}

const tempPrefix = "temp."
