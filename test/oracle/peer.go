package oracle

import (
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// patience is the timeout of an answer. The slowest legitimate answer comes three seconds after a
// refused login.
const patience = 8 * time.Second

// readAhead is the minimum size of a read from the socket.
const readAhead = 4 << 10

// The values that clients of the scripts negotiate, unless a script says otherwise: bytes per
// frame, which also limits their body frames, and channels.
const (
	clientFrameMax   = 131072
	clientChannelMax = 2047
)

// peer is one connection to the broker under test.
type peer struct {
	label    string
	nc       net.Conn
	buf      []byte
	frameMax uint32
	channels map[uint16]*peerChannel
	version  string // of the broker, as it reports it
	loggedIn bool
	over     bool // nothing more will come or is wanted
	replyTo  string
	asked    int // unanswered requests of settle
}

// peerChannel is what a channel received and no line of the script has asked for yet.
type peerChannel struct {
	open     bool
	partial  *content
	async    []string
	confirms []confirm
	answered map[uint64]bool
	returns  int

	confirming bool
	published  int             // since confirm.select
	noAck      map[string]bool // consumers without acks; "" is the last basic.get
	tags       []uint64        // of deliveries that may be unsettled
}

// content is a message that is being received.
type content struct {
	text    string
	size    uint64
	body    []byte
	started bool
}

// confirm is the outcome of one publish.
type confirm struct {
	seq    uint64
	nack   bool
	behind bool // a basic.return came before it
}

// event is the meaning of one frame.
type event struct {
	channel uint16
	text    string // "" for a part of something, or a heartbeat
	kind    eventKind
}

type eventKind uint8

const (
	partOnly  eventKind = iota
	reply               // some line waits for it; includes closes
	async               // deliveries, returns, cancels
	beat                // a heartbeat
	confirmed           // kept in the channel
	finished            // the connection is over
)

func dial(label, addr string) (*peer, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	return &peer{label: label, nc: nc, frameMax: clientFrameMax, channels: map[uint16]*peerChannel{}}, nil
}

func (p *peer) channel(id uint16) *peerChannel {
	ch := p.channels[id]
	if ch == nil {
		ch = &peerChannel{answered: map[uint64]bool{}, noAck: map[string]bool{}}
		p.channels[id] = ch
	}
	return ch
}

// write sends bytes. An error shows when the answer is read.
func (p *peer) write(b []byte) { p.nc.Write(b) } //nolint:errcheck // as said

func (p *peer) send(channel uint16, m amqpwire.Method) {
	p.write(amqpwire.AppendMethodFrame(nil, channel, m))
}

// more reads what has arrived.
func (p *peer) more() error {
	p.buf = slices.Grow(p.buf, readAhead)
	p.nc.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // a socket of ours
	n, err := p.nc.Read(p.buf[len(p.buf):cap(p.buf)])
	p.buf = p.buf[:len(p.buf)+n]
	if n > 0 {
		return nil
	}
	return err
}

// next reads one frame.
func (p *peer) next() event {
	for {
		f, n, err := amqpwire.ParseFrame(p.buf, 0)
		if err != nil {
			p.over = true
			return event{kind: finished, text: "bytes that are no frame: " + strconv.Quote(string(p.buf[:min(8, len(p.buf))]))}
		}
		if n > 0 {
			p.buf = p.buf[n:]
			e := p.event(f)
			if uint32(n) > p.frameMax {
				e.text += fmt.Sprintf(" in a frame of %d bytes", n)
			}
			return e
		}
		switch err := p.more(); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return event{kind: finished, text: "no answer"}
		case err != nil:
			p.over = true
			return event{kind: finished, text: "end of connection"}
		}
	}
}

// event interprets a frame.
func (p *peer) event(f amqpwire.Frame) event {
	ch := p.channel(f.Channel)
	switch f.Type {
	case amqpwire.FrameHeartbeat:
		return event{kind: beat, text: "heartbeat"}
	case amqpwire.FrameMethod:
		return p.method(f, ch)
	case amqpwire.FrameHeader:
		_, size, raw, err := amqpwire.ParseContentHeader(f.Payload)
		if err != nil || ch.partial == nil {
			return event{kind: finished, text: fmt.Sprintf("a content header out of place: %v", err)}
		}
		props, err := message.DecodeProperties(raw)
		if err != nil {
			return event{kind: finished, text: err.Error()}
		}
		if props.ReplyTo != "" {
			p.replyTo = props.ReplyTo
		}
		ch.partial.text += showProperties(&props)
		ch.partial.size, ch.partial.started = size, true
	case amqpwire.FrameBody:
		if ch.partial == nil || !ch.partial.started {
			return event{kind: finished, text: "a body out of place"}
		}
		ch.partial.body = append(ch.partial.body, f.Payload...)
	}
	if ct := ch.partial; ct.size == uint64(len(ct.body)) {
		ch.partial = nil
		return ch.keep(f.Channel, ct.text+" body="+showBody(ct.body))
	}
	return event{channel: f.Channel}
}

// keep stores a complete delivery, return or get-ok.
func (ch *peerChannel) keep(id uint16, text string) event {
	switch {
	case strings.HasPrefix(text, "basic.get-ok"):
		return event{channel: id, kind: reply, text: text}
	case strings.HasPrefix(text, "basic.return"):
		ch.returns++
	}
	ch.async = append(ch.async, text)
	return event{channel: id, kind: async, text: text}
}

func (p *peer) method(f amqpwire.Frame, ch *peerChannel) event {
	m, err := amqpwire.DecodeMethod(f.Payload)
	if err != nil {
		return event{kind: finished, text: err.Error()}
	}
	text := m.ID().String() + showFields(reflect.ValueOf(m).Elem())
	e := event{channel: f.Channel, kind: reply, text: text}
	switch m := m.(type) {
	case *amqpwire.ConnectionStart:
		e.text = showStart(m)
		version, _ := m.ServerProperties.Get("version")
		p.version, _ = version.(string)
	case *amqpwire.BasicDeliver:
		return ch.begin(f.Channel, text, string(m.ConsumerTag), m.DeliveryTag)
	case *amqpwire.BasicGetOk:
		return ch.begin(f.Channel, text, "", m.DeliveryTag)
	case *amqpwire.BasicReturn:
		ch.partial = &content{text: text}
		return event{channel: f.Channel}
	case *amqpwire.BasicCancel, *amqpwire.ConnectionBlocked, *amqpwire.ConnectionUnblocked:
		return ch.keep(f.Channel, text)
	case *amqpwire.BasicAck:
		ch.confirm(m.DeliveryTag, m.Multiple, false)
		e.kind = confirmed
	case *amqpwire.BasicNack:
		ch.confirm(m.DeliveryTag, m.Multiple, true)
		e.kind = confirmed
	case *amqpwire.ChannelClose:
		p.send(f.Channel, &amqpwire.ChannelCloseOk{})
		ch.open = false
	case *amqpwire.ChannelCloseOk:
		ch.open = false
	case *amqpwire.ChannelOpenOk:
		ch.open, ch.confirming, ch.published, ch.tags = true, false, 0, nil
		ch.answered, ch.noAck = map[uint64]bool{}, map[string]bool{}
	case *amqpwire.ConfirmSelectOk:
		ch.confirming = true
	case *amqpwire.ConnectionClose:
		p.send(0, &amqpwire.ConnectionCloseOk{})
		p.over = true
	case *amqpwire.ConnectionCloseOk:
		p.over = true
	}
	return e
}

// begin begins a message for a consumer, "" for basic.get.
func (ch *peerChannel) begin(id uint16, text, consumer string, tag uint64) event {
	ch.partial = &content{text: text}
	if !ch.noAck[consumer] {
		ch.tags = append(ch.tags, tag)
	}
	return event{channel: id}
}

// confirm records the outcome of publishes. Brokers may confirm in any order and grouping, so only
// the outcome of each publish is kept.
func (ch *peerChannel) confirm(seq uint64, multiple, nack bool) {
	first := seq
	if multiple {
		first = 1
	}
	for s := first; s <= seq; s++ {
		if ch.answered[s] {
			continue
		}
		ch.answered[s] = true
		ch.confirms = append(ch.confirms, confirm{s, nack, ch.returns > 0})
	}
}

// takeConfirms formats the confirms received so far and forgets them.
func (ch *peerChannel) takeConfirms() string {
	slices.SortFunc(ch.confirms, func(a, b confirm) int { return int(a.seq) - int(b.seq) })
	var words []string
	for _, c := range ch.confirms {
		word := "ack"
		if c.nack {
			word = "nack"
		}
		if c.behind {
			word = "return " + word
		}
		words = append(words, fmt.Sprintf("%d:%s", c.seq, word))
	}
	ch.confirms, ch.returns = nil, 0
	return "confirms " + strings.Join(words, ", ")
}

// showStart formats connection.start without what differs between brokers.
func showStart(m *amqpwire.ConnectionStart) string {
	mechanisms := strings.Fields(m.Mechanisms)
	slices.Sort(mechanisms)
	capabilities, _ := m.ServerProperties.Get("capabilities")
	table, _ := capabilities.(message.Table)
	sortFields(table)
	return fmt.Sprintf("connection.start version=%d.%d mechanisms=%q locales=%q capabilities=%s",
		m.VersionMajor, m.VersionMinor, strings.Join(mechanisms, " "), m.Locales, show(table))
}

func sortFields(t message.Table) {
	slices.SortFunc(t, func(a, b message.Field) int { return strings.Compare(a.Name, b.Name) })
}

// showProperties formats the properties that are set. It omits what versions of RabbitMQ do
// differently for dead-lettered messages: some sort the headers, and x-last-death-* exist only
// since 3.13, and in Fiveways.
func showProperties(props *message.Properties) string {
	if deaths, dead := props.Headers.Get("x-death"); dead {
		list, _ := deaths.(message.Array) // a client may have sent another type
		for _, death := range list {
			table, _ := death.(message.Table)
			sortFields(table)
		}
		props.Headers = slices.DeleteFunc(props.Headers, func(f message.Field) bool { return strings.HasPrefix(f.Name, "x-last-death-") })
		sortFields(props.Headers)
	}
	v := reflect.ValueOf(props).Elem()
	var unset []string
	for i := range v.NumField() {
		if i == 0 || !props.Has(propertyFlag(i)) {
			unset = append(unset, wireName(v.Type().Field(i).Name))
		}
	}
	return showFields(v, unset...)
}

// propertyFlag returns the flag of field i of message.Properties, whose field 0 is Flags.
func propertyFlag(i int) message.PropertyFlags { return message.HasContentType >> (i - 1) }

// showBody formats short bodies, and summarizes long ones.
func showBody(b []byte) string {
	if len(b) <= 64 {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%d bytes crc=%08x", len(b), crc32.ChecksumIEEE(b))
}
