package messages

import "time"

// Message is a message with its state in the queue.
type Message struct {
	ID          string         `json:"id,omitempty"` // position in the queue; none for a message that was taken
	MessageID   string         `json:"message_id"`
	State       string         `json:"state"` // ready, unacked, scheduled or blocked
	Exchange    string         `json:"exchange"`
	RoutingKey  string         `json:"routing_key"`
	Redelivered bool           `json:"redelivered"`
	Returns     uint32         `json:"returns"`             // how often it was returned to the queue
	Due         string         `json:"due,omitempty"`       // RFC 3339, if it is scheduled
	Expires     string         `json:"expires,omitempty"`   // RFC 3339
	Timestamp   string         `json:"timestamp,omitempty"` // RFC 3339, the property
	Properties  map[string]any `json:"properties"`          // as its publisher set them, with the headers
	Bytes       int            `json:"payload_bytes"`
	Payload     string         `json:"payload"`            // the body, in listings its beginning
	Encoding    string         `json:"payload_encoding"`   // of Payload: string or base64
	Consumer    *Holder        `json:"consumer,omitempty"` // if it is unacked, as far as it is known
	Token       string         `json:"token,omitempty"`    // if it was taken: names the lease
	LeaseUntil  string         `json:"lease_until,omitempty"`
}

// Holder is the consumer of an unacked message.
type Holder struct {
	Tag        string `json:"consumer_tag,omitempty"`
	Connection string `json:"connection,omitempty"`
	LeaseUntil string `json:"lease_until,omitempty"` // RFC 3339, if it is leased
}

// Page is a page of messages.
type Page struct {
	Messages []Message `json:"messages"`
	Next     string    `json:"next,omitempty"` // for ?after=, when there may be more
	Scanned  int       `json:"scanned"`        // how many were looked at
}

// Target is the destination of messages to be moved.
type Target struct {
	To string `json:"to"` // a queue of the same virtual host
}

// Transfer selects the messages of a queue to be moved, and the rate.
type Transfer struct {
	To     string  `json:"to"`     // a queue of the same virtual host; a redrive needs none: each message goes to where it died
	Filter string  `json:"filter"` // a selector; "": all that are ready
	Limit  int     `json:"limit"`  // at most this many, 0: no limit
	Rate   float64 `json:"rate"`   // messages per second, 0: as fast as it goes
}

// Task is a transfer of messages that runs in the server.
type Task struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"` // redrive or move
	VHost     string  `json:"vhost"`
	Queue     string  `json:"queue"`
	To        string  `json:"to,omitempty"`
	Filter    string  `json:"filter,omitempty"`
	Limit     int     `json:"limit"`
	Rate      float64 `json:"rate"`
	Moved     int     `json:"moved"`
	Skipped   int     `json:"skipped"`   // messages looked at and not moved
	Remaining int     `json:"remaining"` // messages not looked at yet, of those that were ready when it began
	State     string  `json:"state"`     // running, done, stopped or failed
	Reason    string  `json:"reason,omitempty"`
	User      string  `json:"user"` // the user that started it
	Started   string  `json:"started"`
	Ended     string  `json:"ended,omitempty"`
}

// Scheduled is a message that waits for its delivery time.
type Scheduled struct {
	ID         string `json:"id"` // its position
	MessageID  string `json:"message_id"`
	Due        string `json:"due"` // RFC 3339
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	Bytes      int    `json:"payload_bytes"`
}

// Schedule is one page of scheduled messages.
type Schedule struct {
	Total    int         `json:"total"`
	Messages []Scheduled `json:"messages"`
	Next     string      `json:"next,omitempty"` // for ?from=, when there are more
}

// DueTime is a new delivery time.
type DueTime struct {
	Due time.Time `json:"due"` // RFC 3339
}

// Changed is the number of messages that a request changed.
type Changed struct {
	Messages int `json:"messages"`
}

// Outgoing is a message to be published to a queue.
type Outgoing struct {
	Payload    string         `json:"payload"`
	Encoding   string         `json:"payload_encoding"` // string or base64; "": string
	Properties map[string]any `json:"properties"`       // RabbitMQ's names; the default of delivery_mode is 2
	DelayMS    int64          `json:"delay_ms"`         // minimum time until delivery
	NotBefore  *time.Time     `json:"not_before"`       // not delivered before this time, RFC 3339
}

// Published identifies a message that was published.
type Published struct {
	MessageID string `json:"message_id"`
}

// Taken contains messages that were taken.
type Taken struct {
	Messages []Message `json:"messages"`
}

// Tokens identifies messages that were taken.
type Tokens struct {
	Tokens  []string `json:"tokens"`
	Requeue *bool    `json:"requeue,omitempty"` // for nack: requeue, or dead-letter; unset: requeue
	Delay   string   `json:"delay,omitempty"`   // for nack: minimum time until redelivery
	Error   string   `json:"error,omitempty"`   // for nack: the header x-error of the messages, or of their dead letters
	Lease   string   `json:"lease,omitempty"`   // for extend: length of the lease from now
}

// Settled is the number of messages that a request settled; the leases of the others were over.
type Settled struct {
	Acked    *int     `json:"acked,omitempty"`
	Nacked   *int     `json:"nacked,omitempty"`
	Extended *int     `json:"extended,omitempty"`
	Stale    []string `json:"stale"`
}
