package semaphores

import (
	"encoding/json"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
)

// envelope returns the message of a transition, as docs/features/semaphores.md describes it.
func envelope(e *Event) message.Envelope {
	name, status := e.Event.String(), ""
	if !e.Gone {
		status = e.Task.Status.String()
	}
	props := message.Properties{
		Flags: message.HasContentType | message.HasHeaders | message.HasDeliveryMode | message.HasMessageID | message.HasTimestamp | message.HasType,
		Headers: message.Table{
			{Name: "key", Value: e.Key}, {Name: "task", Value: e.Task.ID}, {Name: "status", Value: status},
			{Name: "priority", Value: e.Task.Priority}, {Name: "event", Value: name}, {Name: "seq", Value: int64(e.Seq)},
		},
		ContentType: "application/json", DeliveryMode: message.Persistent, Timestamp: message.Timestamp(e.Time / 1000),
		MessageID: strconv.FormatUint(e.of.id, 10) + "-" + strconv.FormatUint(e.Seq, 10), Type: "semaphore." + name,
	}
	env := message.AppendEnvelopeHeader(make([]byte, 0, 512), Exchange, e.Key+"."+name, props.Append(nil))
	return append(env, body(e, name, status)...)
}

// body returns the event as JSON.
func body(e *Event, name, status string) []byte {
	b, err := json.Marshal(struct {
		Key      string  `json:"key"`
		Task     string  `json:"task"`
		Event    string  `json:"event"`
		Status   string  `json:"status"`
		Priority float64 `json:"priority"`
		Seq      uint64  `json:"seq"`
	}{e.Key, e.Task.ID, name, status, e.Task.Priority, e.Seq})
	if err != nil {
		panic(err) // cannot happen with strings and finite numbers
	}
	return b
}
