package dynamic

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// RabbitMQ's headers that a shovel adds if configured.
const (
	forwardHeader   = "x-shovelled" // a list of tables, most recent shovel first
	timestampHeader = "x-shovelled-timestamp"
)

// properties are settings that replace the properties of each message.
type properties struct {
	ContentType     *string  `json:"content_type"`
	ContentEncoding *string  `json:"content_encoding"`
	DeliveryMode    *float64 `json:"delivery_mode"`
	Priority        *float64 `json:"priority"`
	CorrelationID   *string  `json:"correlation_id"`
	ReplyTo         *string  `json:"reply_to"`
	Expiration      *string  `json:"expiration"`
	MessageID       *string  `json:"message_id"`
	Timestamp       *float64 `json:"timestamp"`
	Type            *string  `json:"type"`
	UserID          *string  `json:"user_id"`
	AppID           *string  `json:"app_id"`
}

func (p *properties) apply(to *amqp.Publishing) {
	for _, row := range []struct {
		from *string
		to   *string
	}{
		{p.ContentType, &to.ContentType}, {p.ContentEncoding, &to.ContentEncoding}, {p.CorrelationID, &to.CorrelationId}, {p.ReplyTo, &to.ReplyTo},
		{p.Expiration, &to.Expiration}, {p.MessageID, &to.MessageId}, {p.Type, &to.Type}, {p.UserID, &to.UserId}, {p.AppID, &to.AppId},
	} {
		if row.from != nil {
			*row.to = *row.from
		}
	}
	if p.DeliveryMode != nil {
		to.DeliveryMode = uint8(*p.DeliveryMode)
	}
	if p.Priority != nil {
		to.Priority = uint8(*p.Priority)
	}
	if p.Timestamp != nil {
		to.Timestamp = time.Unix(int64(*p.Timestamp), 0)
	}
}

// change returns the function that changes each message, or nil if there is nothing to change.
// cluster is the name of this broker.
func (s *settings) change(name identity, cluster string) func(p *amqp.Publishing, source, target string) {
	props, forward, timestamp := first(s.Properties, s.OldProperties), s.OldForward, s.OldTimestamp
	if s.Forward != nil {
		forward = *s.Forward
	}
	if s.Timestamp != nil {
		timestamp = *s.Timestamp
	}
	if props == nil && !forward && !timestamp {
		return nil
	}
	return func(p *amqp.Publishing, source, target string) {
		if props != nil {
			props.apply(p)
		}
		if p.Headers == nil && (forward || timestamp) {
			p.Headers = amqp.Table{}
		}
		if forward {
			before, _ := p.Headers[forwardHeader].([]any)
			p.Headers[forwardHeader] = append([]any{s.passage(name, cluster, source, target)}, before...)
		}
		if timestamp {
			p.Headers[timestampHeader] = time.Now().Unix()
		}
	}
}

// passage returns the entry for this shovel in the header of forwarded messages.
func (s *settings) passage(name identity, cluster, source, target string) amqp.Table {
	t := amqp.Table{
		"shovelled-by": cluster, "shovel-type": "dynamic", "shovel-name": name.Name, "shovel-vhost": name.VHost, "src-uri": source, "dest-uri": target,
	}
	for key, value := range s.ends() {
		t[key] = value
	}
	return t
}

// ends returns the configured names of queues and exchanges on both sides.
func (s *settings) ends() map[string]string {
	ends := map[string]string{}
	if s.SourceQueue != "" {
		ends["src-queue"] = s.SourceQueue
	} else {
		ends["src-exchange"], ends["src-exchange-key"] = s.SourceExchange, s.SourceKey
	}
	if s.TargetExchange != nil {
		ends["dest-exchange"] = *s.TargetExchange
	}
	if s.TargetKey != "" {
		ends["dest-exchange-key"] = s.TargetKey
	}
	if s.TargetQueue != "" {
		ends["dest-queue"] = s.TargetQueue
	}
	return ends
}
