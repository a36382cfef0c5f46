package messages

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
)

// deathHeaders are the prefixes of the headers that record a message's deaths.
var deathHeaders = []string{"x-death", "x-first-death-", "x-last-death-"}

// errorHeader is the header that says why a job failed.
const errorHeader = "x-error"

// revived returns a dead letter in its form before its last death, as far as its headers record it,
// and the queue where it died. ok is false if they record no queue.
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

// lastDeath returns the first entry of x-death, which is the most recent.
func lastDeath(headers message.Table) (message.Table, bool) {
	v, _ := headers.Get("x-death")
	list, _ := v.(message.Array)
	if len(list) == 0 {
		return nil, false
	}
	death, ok := list[0].(message.Table)
	return death, ok
}

// text returns a field as a string, or "" if it is not one.
func text(t message.Table, name string) string {
	v, _ := t.Get(name)
	s, _ := v.(string)
	return s
}
