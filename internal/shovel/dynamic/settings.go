package dynamic

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/shovel"
)

// Values of settings.
const (
	amqp091 = "amqp091" // a protocol
	amqp10  = "amqp10"  // a protocol that is not supported

	onConfirm = "on-confirm"
	onPublish = "on-publish"
	noAck     = "no-ack"

	never       = "never"
	queueLength = "queue-length"
)

// defaultReconnectDelay is RabbitMQ's default, in seconds.
const defaultReconnectDelay = 5

// settings is the value of a parameter. Where a setting has two names, the longer one is newer and
// takes precedence.
type settings struct {
	SourceProtocol string         `json:"src-protocol"`
	SourceURI      uris           `json:"src-uri"`
	SourceQueue    string         `json:"src-queue"`
	SourceArgs     map[string]any `json:"src-queue-args"`
	SourceExchange string         `json:"src-exchange"`
	SourceKey      string         `json:"src-exchange-key"`
	SourceConsumer map[string]any `json:"src-consumer-args"`
	TargetProtocol string         `json:"dest-protocol"`
	TargetURI      uris           `json:"dest-uri"`
	TargetQueue    string         `json:"dest-queue"`
	TargetArgs     map[string]any `json:"dest-queue-args"`
	TargetExchange *string        `json:"dest-exchange"`
	TargetKey      string         `json:"dest-exchange-key"`

	AckMode        string   `json:"ack-mode"`
	ReconnectDelay *float64 `json:"reconnect-delay"` // s

	OldPrefetch    *float64 `json:"prefetch-count"`
	Prefetch       *float64 `json:"src-prefetch-count"`
	OldDeleteAfter any      `json:"delete-after"`
	DeleteAfter    any      `json:"src-delete-after"`

	OldForward    bool        `json:"add-forward-headers"`
	Forward       *bool       `json:"dest-add-forward-headers"`
	OldTimestamp  bool        `json:"add-timestamp-header"`
	Timestamp     *bool       `json:"dest-add-timestamp-header"`
	OldProperties *properties `json:"publish-properties"`
	Properties    *properties `json:"dest-publish-properties"`
}

// uris is one URI, or a list of them.
type uris []string

func (u *uris) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*u = uris{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(u))
}

func (u uris) split() (first string, others []string) {
	if len(u) == 0 {
		return "", nil
	}
	return u[0], u[1:]
}

// errAMQP10 is the error of a shovel that needs AMQP 1.0.
var errAMQP10 = errors.New("AMQP 1.0 is not supported; use amqp091")

// amount is how much a shovel moves before it is finished.
type amount struct {
	messages uint64
	some     bool // messages is set
	length   bool // as many messages as the queue holds
}

// parse decodes the value of a parameter, which has been checked.
func parse(value json.RawMessage) (s settings, err error) {
	if err := json.Unmarshal(value, &s); err != nil {
		return s, err
	}
	if s.SourceProtocol == amqp10 || s.TargetProtocol == amqp10 {
		return s, errAMQP10
	}
	return s, nil
}

// amount decodes delete-after.
func (s *settings) amount() amount {
	after := s.DeleteAfter
	if after == nil {
		after = s.OldDeleteAfter
	}
	if n, ok := after.(float64); ok {
		return amount{messages: uint64(max(n, 0)), some: true}
	}
	return amount{length: after == queueLength}
}

// options returns the options for package shovel. name identifies the shovel.
func (s *settings) options(name identity) shovel.Options {
	amount, pause := s.amount(), s.reconnectDelay()
	o := shovel.Options{
		Source: shovel.Source{
			Queue: s.SourceQueue, Declare: true, Args: table(s.SourceArgs), Exchange: s.SourceExchange, Key: s.SourceKey, Consumer: table(s.SourceConsumer),
		},
		Target: shovel.Target{
			Queue: s.TargetQueue, Args: table(s.TargetArgs), Key: s.TargetKey,
			Lossy: s.TargetQueue == "", // as in RabbitMQ: a message for an exchange may be unroutable
		},
		AckMode: ackModes[s.AckMode], Limit: amount.messages, Length: amount.length && s.SourceQueue != "",
		Patient: true, Fragile: pause <= 0, Pause: pause, MaxPause: pause,
		Name: "Shovel " + name.Name,
	}
	if x := s.TargetExchange; x != nil {
		o.Target.Exchange, o.Target.Default = *x, *x == ""
	}
	o.Source.URI, o.Source.Others = s.SourceURI.split()
	o.Target.URI, o.Target.Others = s.TargetURI.split()
	if n := first(s.Prefetch, s.OldPrefetch); n != nil {
		o.Prefetch = int(min(max(*n, 0), math.MaxUint16))
	}
	return o
}

var ackModes = map[string]shovel.AckMode{onConfirm: shovel.OnConfirm, onPublish: shovel.OnPublish, noAck: shovel.NoAck}

func (s *settings) reconnectDelay() time.Duration {
	if s.ReconnectDelay == nil {
		return defaultReconnectDelay * time.Second
	}
	return time.Duration(*s.ReconnectDelay * float64(time.Second))
}

// first returns the newer setting if it is present, and the older one otherwise.
func first[T any](newer, older *T) *T {
	if newer != nil {
		return newer
	}
	return older
}

// table converts a JSON object to AMQP arguments. Whole numbers become integers.
func table(object map[string]any) amqp.Table {
	t := amqp.Table{}
	for key, v := range object {
		t[key] = v
		if n, ok := v.(float64); ok && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			t[key] = int64(n)
		}
		if inner, ok := v.(map[string]any); ok {
			t[key] = table(inner)
		}
	}
	return t
}
