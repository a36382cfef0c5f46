package qkey

import "bytes"

// Kind is what a key names.
type Kind uint8

const (
	// None: nothing that can be read, put or deleted.
	None Kind = iota
	// Record is the queue itself.
	Record
	// Producer is the destination of published messages.
	Producer
	// Message is an unacknowledged message.
	Message
	// Consumer is a consumer of the queue.
	Consumer
	// Delivery is a message that a consumer holds.
	Delivery
)

// The two spellings of the root.
const (
	shortRoot = "/q/"
	longRoot  = "/queue/"
)

// Path is a parsed key. Its slices may alias the key.
type Path struct {
	Kind   Kind
	Queue  []byte // its name in the engine
	Client []byte // for Consumer and Delivery; for Producer nil if the key has no client
	Index  uint64 // for Message and Delivery; never 0
	Tail   []byte // for Producer, Message and Delivery: the message's own key
	Base   []byte // for Consumer and Delivery: the consumer's key as spelled, without final slash
}

// Holds reports whether a key belongs to the queues.
func Holds(key []byte) bool { return len(rootOf(key)) > 0 }

func rootOf(key []byte) []byte {
	switch {
	case len(key) >= len(shortRoot) && string(key[:len(shortRoot)]) == shortRoot:
		return key[:len(shortRoot)]
	case len(key) >= len(longRoot) && string(key[:len(longRoot)]) == longRoot:
		return key[:len(longRoot)]
	}
	return nil
}

// Parse parses a key. A key that names nothing has Kind None.
func Parse(key []byte) Path {
	root := rootOf(key)
	if root == nil {
		return Path{}
	}
	name, rest, _ := bytes.Cut(key[len(root):], slash)
	if len(name) == 0 {
		return Path{}
	}
	p := Path{Queue: unescape(name)}
	part, rest, more := bytes.Cut(rest, slash)
	switch {
	case len(part) == 0 && !more:
		p.Kind = Record
	case isProducer(part):
		p.producer(rest)
	case isConsumer(part):
		p.consumer(key, rest)
	default:
		p.message(Message, part, rest)
	}
	return p
}

var slash = []byte("/")

func isProducer(part []byte) bool {
	switch string(part) {
	case "p", "producer", "i", "input":
		return true
	}
	return false
}

func isConsumer(part []byte) bool { return string(part) == "c" || string(part) == "consumer" }

// producer parses what follows p/. Without a message key the path names nothing.
func (p *Path) producer(rest []byte) {
	client, tail, ok := bytes.Cut(rest, slash)
	if !ok {
		client, tail = nil, rest
	}
	if len(tail) > 0 {
		p.Kind, p.Client, p.Tail = Producer, client, tail
	}
}

// consumer parses what follows c/ in key.
func (p *Path) consumer(key, rest []byte) {
	client, rest, more := bytes.Cut(rest, slash)
	if len(client) == 0 {
		return
	}
	base := key[:len(key)-len(rest)]
	if more {
		base = base[:len(base)-1]
	}
	if len(rest) == 0 {
		p.Kind = Consumer
	} else {
		index, tail, _ := bytes.Cut(rest, slash)
		p.message(Delivery, index, tail)
	}
	if p.Kind != None {
		p.Client, p.Base = unescape(client), base
	}
}

// message parses an index and what follows it.
func (p *Path) message(kind Kind, index, tail []byte) {
	if n, ok := parseIndex(index); ok && len(tail) > 0 {
		p.Kind, p.Index, p.Tail = kind, n, tail
	}
}
