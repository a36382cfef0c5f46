package messages

import (
	"encoding/json"
	"fmt"
	"math"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// texts are the properties that are strings, by their names in RabbitMQ's API.
var texts = []struct {
	name string
	flag message.PropertyFlags
	at   func(*message.Properties) *string
}{
	{"content_type", message.HasContentType, func(p *message.Properties) *string { return &p.ContentType }},
	{"content_encoding", message.HasContentEncoding, func(p *message.Properties) *string { return &p.ContentEncoding }},
	{"correlation_id", message.HasCorrelationID, func(p *message.Properties) *string { return &p.CorrelationID }},
	{"reply_to", message.HasReplyTo, func(p *message.Properties) *string { return &p.ReplyTo }},
	{"expiration", message.HasExpiration, func(p *message.Properties) *string { return &p.Expiration }},
	{"message_id", message.HasMessageID, func(p *message.Properties) *string { return &p.MessageID }},
	{"type", message.HasType, func(p *message.Properties) *string { return &p.Type }},
	{"user_id", message.HasUserID, func(p *message.Properties) *string { return &p.UserID }},
	{"app_id", message.HasAppID, func(p *message.Properties) *string { return &p.AppID }},
	{"cluster_id", message.HasClusterID, func(p *message.Properties) *string { return &p.ClusterID }},
}

// shownProperties converts properties to the form of RabbitMQ's API.
func shownProperties(p *message.Properties) map[string]any {
	out := map[string]any{}
	for _, t := range texts {
		if p.Has(t.flag) {
			out[t.name] = *t.at(p)
		}
	}
	if p.Has(message.HasDeliveryMode) {
		out["delivery_mode"] = p.DeliveryMode
	}
	if p.Has(message.HasPriority) {
		out["priority"] = p.Priority
	}
	if p.Has(message.HasTimestamp) {
		out["timestamp"] = p.Timestamp
	}
	if p.Has(message.HasHeaders) {
		out["headers"] = rest.ShowTable(p.Headers)
	}
	return out
}

// readProperties reads properties from JSON whose numbers are json.Number. Like RabbitMQ it ignores
// unknown names.
func readProperties(in map[string]any) (p message.Properties, err error) {
	for _, t := range texts {
		if v, ok := in[t.name]; ok {
			s, ok := v.(string)
			if !ok {
				return p, rest.BadRequest("not_string: " + t.name)
			}
			if len(s) > message.MaxShortStr {
				return p, rest.BadRequest(fmt.Sprintf("%s has more than %d bytes", t.name, message.MaxShortStr))
			}
			*t.at(&p) = s
			p.Flags |= t.flag
		}
	}
	number := func(name string, flag message.PropertyFlags, most int64) int64 {
		v, ok := in[name]
		if !ok || err != nil {
			return 0
		}
		n, ok := v.(json.Number)
		i, bad := n.Int64()
		switch {
		case !ok || bad != nil:
			err = rest.BadRequest("not_int: " + name)
		case i < 0 || i > most:
			err = rest.BadRequest(fmt.Sprintf("%s is a number from 0 to %d", name, most))
		}
		p.Flags |= flag
		return i
	}
	p.DeliveryMode = uint8(number("delivery_mode", message.HasDeliveryMode, math.MaxUint8))
	p.Priority = uint8(number("priority", message.HasPriority, math.MaxUint8))
	p.Timestamp = message.Timestamp(number("timestamp", message.HasTimestamp, math.MaxInt64))
	if h, ok := in["headers"]; ok && err == nil {
		t, ok := h.(map[string]any)
		if !ok {
			return p, rest.BadRequest("headers are a JSON object")
		}
		p.Headers, err = rest.ReadTable(t)
		p.Flags |= message.HasHeaders
	}
	return p, err
}
