package mbus

import (
	"encoding/base64"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The columns of qt_model.
const (
	colID = iota
	colAdded
	colIID
	colDelayed
	colExpires
	colReceived
	colHeaders
	colProperties
	colData
	columns
)

// Keys of the data of a message whose body is not an hstore.
const (
	bodyKey   = "body"
	base64Key = "body_base64"
)

// columnSet is a set of wanted columns.
type columnSet uint16

const allColumns = columnSet(1<<columns - 1)

func (s columnSet) has(column int) bool { return s&(1<<column) != 0 }

// viewed is a message as a query reads it, with its position and the reading session.
type viewed struct {
	queue    string // "" if it is not in a queue yet
	taken    bool   // its headers name the queue from which it was received
	database string
	handle   queue.Handle
	zone     *time.Location
	now      temporal.Timestamp // the reader's time; for messages without an enqueue time

	exchange, key, props, body []byte
}

// record returns the row of a message. Columns that are not wanted stay nil. Texts in the row alias
// the envelope.
func record(v *viewed, want columnSet) value.Record {
	row := make(value.Record, columns)
	v.fill(row, want)
	return row
}

// fill is record into a row of NULLs.
func (v *viewed) fill(row value.Record, want columnSet) {
	var h header
	h.read(v)
	if want.has(colID) && v.queue != "" {
		row[colID] = int64(v.handle)
	}
	added := h.added(v)
	if want.has(colAdded) {
		row[colAdded] = added
	}
	if want.has(colIID) {
		row[colIID] = h.iid(v)
	}
	if want.has(colDelayed) {
		row[colDelayed] = h.time(h.delayed, added-hour)
	}
	if want.has(colExpires) && h.expires != "" {
		row[colExpires] = h.time(h.expires, localtime.Infinity)
	}
	if want.has(colReceived) {
		row[colReceived] = noReceivers
	}
	if want.has(colHeaders) {
		row[colHeaders] = h.headers(v, added)
	}
	if want.has(colProperties) {
		if p, ok := h.applicationProperties(v); ok {
			row[colProperties] = p
		}
	}
	if want.has(colData) && !h.noData {
		row[colData] = h.data(v)
	}
}

var noReceivers = &value.Array{Elem: value.Int4}

// header is the parsed but not yet decoded property list of a message.
type header struct {
	set    message.PropertyFlags
	props  [14][]byte
	table  []byte // the header table
	kept   []byte // the table in keptHeader; nil: SQL has not posted the message
	own    bool   // kept is present
	after  []byte
	waits  bool
	noData bool

	enqueued, delayed, expires string
	aside                      []byte // keptProperties
	hasAside                   bool
}

// read finds the parts.
func (h *header) read(v *viewed) {
	r := message.NewReader(v.props)
	h.set = message.PropertyFlags(r.Uint16())
	for i, f := 0, message.HasContentType; f >= message.HasAppID; i, f = i+1, f>>1 {
		if h.set&f == 0 {
			continue
		}
		switch f {
		case message.HasHeaders:
			h.table = r.LongStr()
		case message.HasDeliveryMode, message.HasPriority:
			h.props[i] = r.Bytes(1)
		case message.HasTimestamp:
			h.props[i] = r.Bytes(8)
		default:
			h.props[i] = r.ShortStr()
		}
	}
	eachField(h.table, func(name, val []byte, letter byte) {
		switch {
		case letter == 'F' && string(name) == keptHeader && !h.own:
			h.kept, h.own = val, true
		case letter == 'S' && string(name) == afterHeader && !h.waits:
			h.after, h.waits = val, true
		}
	})
	eachField(h.kept, func(name, val []byte, letter byte) {
		switch {
		case letter == 'S' && string(name) == keyEnqueueTime:
			h.enqueued = aliased(val)
		case letter == 'S' && string(name) == keyDelayed:
			h.delayed = aliased(val)
		case letter == 'S' && string(name) == keyExpires:
			h.expires = aliased(val)
		case letter == 'F' && string(name) == keptProperties:
			h.aside, h.hasAside = val, true
		case letter == 't' && string(name) == keptData:
			h.noData = true
		}
	})
}

func (h *header) prop(f message.PropertyFlags) ([]byte, bool) { return h.props[at(f)], h.set&f != 0 }

// added returns the time when the message was put into its queue.
func (h *header) added(v *viewed) temporal.Timestamp {
	if t, ok := h.prop(message.HasTimestamp); ok && !h.own {
		return localtime.OfUnix(int64(min(beUint64(t), 1<<40)), v.zone)
	}
	return h.time(h.enqueued, v.now)
}

func (h *header) time(text string, otherwise temporal.Timestamp) temporal.Timestamp {
	if text == "" {
		return otherwise
	}
	t, err := localtime.Parse(text, &plain.Settings)
	if err != nil {
		return otherwise
	}
	return t
}

// iid returns the message-id. A message without one is identified by its position.
func (h *header) iid(v *viewed) string {
	if id, ok := h.prop(message.HasMessageID); ok && len(id) > 0 {
		return text(id)
	}
	return placeID(v.queue, v.handle)
}

// placeID returns the iid of a message without an id.
func placeID(queueName string, h queue.Handle) string {
	return queueName + placeMark + strconv.FormatUint(uint64(h), 10)
}

const placeMark = ".@"

// headers returns the headers of the record.
func (h *header) headers(v *viewed, added temporal.Timestamp) hstore.Map {
	pairs := make(hstore.Map, 0, 8)
	eachField(h.kept, func(name, val []byte, letter byte) {
		key := aliased(name)
		if key == keyDelayed || key == keyExpires || key == keyDestination && v.taken || letter == 'F' || letter == 't' {
			return
		}
		if key != "" && key[0] == keptMark {
			key = key[1:]
		}
		pairs = append(pairs, hstore.Pair{Key: key, Value: aliased(val), Null: letter == 'V'})
	})
	if h.waits {
		pairs = append(pairs, hstore.Pair{Key: afterHeader, Value: text(h.after)})
	}
	kept := len(pairs)
	h.addProperties(v, func(key, text string) {
		if !slices.ContainsFunc(pairs[:kept], func(p hstore.Pair) bool { return p.Key == key }) {
			pairs = append(pairs, hstore.Pair{Key: key, Value: text})
		}
	})
	if !h.own {
		pairs = h.addDefaults(pairs, v, added)
	}
	if v.taken {
		pairs = append(pairs, hstore.Pair{Key: keyDestination, Value: v.queue})
	}
	return hstore.New(pairs)
}

// addDefaults adds what a post by SQL would have added.
func (h *header) addDefaults(pairs hstore.Map, v *viewed, added temporal.Timestamp) hstore.Map {
	return append(pairs,
		hstore.Pair{Key: keyEnqueueTime, Value: string(localtime.Append(nil, added))},
		hstore.Pair{Key: keySourceDB, Value: v.database},
		hstore.Pair{Key: keyDestinationQueue, Value: v.queue},
		hstore.Pair{Key: keySeenBy, Value: arrayOf(v.database)},
		hstore.Pair{Key: "exchange", Value: text(v.exchange)},
		hstore.Pair{Key: "routing_key", Value: text(v.key)},
	)
}

// addProperties passes the shown AMQP properties to add.
func (h *header) addProperties(v *viewed, add func(key, text string)) {
	for _, p := range shown {
		b, ok := h.prop(p.flag)
		if !ok {
			continue
		}
		switch p.flag {
		case message.HasContentType:
			if string(b) == contentType {
				continue
			}
			add(p.key, text(b))
		case message.HasDeliveryMode:
			if !h.own || b[0] != message.Persistent {
				add(p.key, strconv.Itoa(int(b[0])))
			}
		case message.HasPriority:
			add(p.key, strconv.Itoa(int(b[0])))
		case message.HasTimestamp:
			add(p.key, string(localtime.Append(nil, localtime.OfUnix(int64(min(beUint64(b), 1<<40)), v.zone))))
		default:
			add(p.key, text(b))
		}
	}
}

var shown = []struct {
	flag message.PropertyFlags
	key  string
}{
	{message.HasContentType, "content_type"}, {message.HasContentEncoding, "content_encoding"},
	{message.HasDeliveryMode, "delivery_mode"}, {message.HasPriority, "priority"}, {message.HasCorrelationID, "correlation_id"},
	{message.HasReplyTo, "reply_to"}, {message.HasExpiration, "expiration"}, {message.HasTimestamp, "timestamp"},
	{message.HasType, "type"}, {message.HasUserID, "user_id"}, {message.HasAppID, "app_id"},
}

// applicationProperties returns the properties of the record. ok is false if they are NULL.
func (h *header) applicationProperties(v *viewed) (m hstore.Map, ok bool) {
	plain := true
	eachField(h.table, func(name, val []byte, letter byte) {
		switch {
		case letter == 'F' && string(name) == keptHeader, string(name) == afterHeader && letter == 'S':
		case letter == 'S', letter == 'V':
			m = append(m, hstore.Pair{Key: text(name), Value: text(val), Null: letter == 'V'})
		default:
			plain = false
		}
	})
	if !plain {
		m = otherValues(h.table, v.zone)
	}
	eachField(h.aside, func(name, val []byte, letter byte) {
		m = append(m, hstore.Pair{Key: aliased(name), Value: aliased(val), Null: letter == 'V'})
	})
	present := len(m) > 0 || h.hasAside || !h.own && h.set&message.HasHeaders != 0
	return hstore.New(m), present
}

// data returns the data of the record.
func (h *header) data(v *viewed) hstore.Map {
	if t, ok := h.prop(message.HasContentType); ok && string(t) == contentType && wellFormed(v.body) {
		if m, err := hstore.Parse(aliased(v.body)); err == nil {
			return m
		}
	}
	if wellFormed(v.body) {
		return hstore.Map{{Key: bodyKey, Value: aliased(v.body)}}
	}
	return hstore.Map{{Key: base64Key, Value: base64.StdEncoding.EncodeToString(v.body)}}
}

// eachField calls fn for the fields of a raw table. Texts, octets, tables and arrays come without
// their length prefix. It stops at a malformed field.
func eachField(table []byte, fn func(name, val []byte, letter byte)) {
	for len(table) > 0 {
		name, letter, val, rest, ok := message.NextField(table)
		if !ok {
			return
		}
		fn(name, val, letter)
		table = rest
	}
}

// aliased returns b as a string without copying. Envelopes never change.
func aliased(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// text returns b as a text that is valid for PostgreSQL clients. Bytes that are not valid text are
// shown in hexadecimal.
func text(b []byte) string {
	if wellFormed(b) {
		return aliased(b)
	}
	return hexText(b)
}
