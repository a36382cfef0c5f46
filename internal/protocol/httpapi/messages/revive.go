package messages

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
)

// deathHeaders begin the names of the headers that tell of a message's deaths.
var deathHeaders = []string{"x-death", "x-first-death-", "x-last-death-"}

// errorHeader is why a job failed.
const errorHeader = "x-error"

// revived is a dead letter as the message that it was before its last death, as far as it says, and
// the queue where it died. ok is false when it says no queue.
func revived(env message.Envelope) (alive message.Envelope, queue string, ok bool) {
	exchange, key, raw, body := env.Split()
	props, err := message.DecodeProperties(raw)
	if err != nil {
		return nil, "", false
	}
	newExchange, newKey := string(exchange), string(key)
	if death, found := lastDeath(props.Headers); found {
		queue = text(death, "queue")
		newExchange = text(death, "exchange")
		if keys, _ := death.Get("routing-keys"); keys != nil {
			if list, _ := keys.(message.Array); len(list) > 0 {
				newKey, _ = list[0].(string)
			}
		}
	}
	if queue == "" {
		queue = text(props.Headers, "x-first-death-queue")
	}
	if queue == "" || len(newExchange) > message.MaxShortStr || len(newKey) > message.MaxShortStr {
		return nil, "", false
	}
	props.Headers = slices.DeleteFunc(props.Headers, func(f message.Field) bool {
		return f.Name == errorHeader || slices.ContainsFunc(deathHeaders, func(begin string) bool { return strings.HasPrefix(f.Name, begin) })
	})
	p := props.Append(nil)
	out := message.AppendEnvelopeHeader(make([]byte, 0, len(env)), newExchange, newKey, p)
	return append(out, body...), queue, true
}

// lastDeath is the first entry of x-death, which is the newest.
func lastDeath(headers message.Table) (message.Table, bool) {
	v, _ := headers.Get("x-death")
	list, _ := v.(message.Array)
	if len(list) == 0 {
		return nil, false
	}
	death, ok := list[0].(message.Table)
	return death, ok
}

// text is a field as text; "" when it is none.
func text(t message.Table, name string) string {
	v, _ := t.Get(name)
	s, _ := v.(string)
	return s
}
