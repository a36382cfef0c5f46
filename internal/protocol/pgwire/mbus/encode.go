package mbus

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Elements of a message posted by SQL; docs/protocols/sql-mapping.md has the whole table.
const (
	contentType = "application/x-hstore" // the body is the text of an hstore

	// keptHeader is the message header that stores the headers of the record that are not AMQP
	// properties. It is a table of texts and voids. It may also contain keptProperties, a table of
	// properties that cannot be message headers, and keptData, a boolean that is set when the data
	// are NULL.
	keptHeader     = "mbus"
	keptProperties = "properties"
	keptData       = "data"

	afterHeader = "consume_after" // read by the engine
)

// Record headers with a special meaning.
const (
	keyEnqueueTime      = "enqueue_time"
	keySourceDB         = "source_db"
	keyDestinationQueue = "destination_queue"
	keyDestination      = "destination"
	keySeenBy           = "seenby"
	keyDelayed          = "delayed_until"
	keyExpires          = "expires"
	keyRedeploy         = "Redeploy"
)

// posting is a record that is being posted.
type posting struct {
	exchange, key string // the destination
	queue         string
	database      string
	user          string
	iid           string
	claim         *loans.Claim // on the iid, if the client supplied one
	data          hstore.Map
	headers       hstore.Map
	properties    hstore.Map
	noData        bool // data is NULL
	noProperties  bool
	verbatim      bool // headers are those of a message that is moved unchanged
	delayed       temporal.Timestamp
	expires       temporal.Timestamp
	hasDelayed    bool
	hasExpires    bool
	now           temporal.Timestamp
	settings      *value.Settings
}

// encoded is a message in the form that the engine takes.
type encoded struct {
	env        message.Envelope
	persistent bool
	priority   uint8
	ttl        int64              // ms, -1 none
	added      temporal.Timestamp // orders the queue
	own        bool               // added was supplied by the poster
}

// encoder builds messages and reuses its buffers.
type encoder struct {
	props []byte
	kept  []byte // payload of keptHeader
	list  fields
}

// fields holds the AMQP properties set by the poster's headers. Texts are unchanged; invalid values
// are excluded.
type fields struct {
	text  [14]string
	set   message.PropertyFlags
	added temporal.Timestamp
	own   bool // enqueue_time is among the headers
	after string
	ids   *value.Array // the ids in after
	waits bool         // consume_after is among the headers
}

// at returns the index of a property in wire order.
func at(f message.PropertyFlags) int {
	n := 0
	for g := message.HasContentType; g != f; g >>= 1 {
		n++
	}
	return n
}

// encode builds the message. It returns an error for the client if a value does not fit into a
// message.
func (e *encoder) encode(p *posting) (encoded, error) {
	e.list = fields{added: p.now}
	e.kept = e.kept[:0]
	if err := e.readHeaders(p); err != nil {
		return encoded{}, err
	}
	e.keepTimes(p)
	body, plainBody := e.plainBody(p)
	if !plainBody && e.list.set&message.HasContentType != 0 {
		e.keep("content_type", e.list.text[at(message.HasContentType)])
	}
	if !plainBody {
		e.list.set |= message.HasContentType
		e.list.text[at(message.HasContentType)] = contentType
	}
	if err := e.properties(p); err != nil {
		return encoded{}, err
	}
	n := message.EnvelopeSize(len(p.exchange), len(p.key), len(e.props), len(body))
	if !plainBody {
		n += textSize(p.data)
	}
	env := message.AppendEnvelopeHeader(make([]byte, 0, n), p.exchange, p.key, e.props)
	if plainBody {
		env = append(env, body...)
	} else {
		env = p.data.Append(env)
	}
	if cap(e.props)+cap(e.kept) > maxScratch {
		e.props, e.kept = nil, nil
	}
	return e.finished(env), nil
}

// maxScratch limits the size of the buffers that an idle session keeps.
const maxScratch = 16 << 10

// finished adds the message attributes that the engine takes outside of the envelope.
func (e *encoder) finished(env []byte) encoded {
	out := encoded{env: env, persistent: true, ttl: -1, added: e.list.added, own: e.list.own}
	if e.list.set&message.HasDeliveryMode != 0 {
		out.persistent = e.list.text[at(message.HasDeliveryMode)] != "1"
	}
	if e.list.set&message.HasPriority != 0 {
		n, _ := strconv.Atoi(e.list.text[at(message.HasPriority)])
		out.priority = uint8(n)
	}
	if e.list.set&message.HasExpiration != 0 {
		out.ttl, _ = strconv.ParseInt(e.list.text[at(message.HasExpiration)], 10, 64)
	}
	return out
}

// readHeaders sorts the poster's headers into AMQP properties, consume_after, and kept headers.
func (e *encoder) readHeaders(p *posting) error {
	if p.verbatim {
		return e.keepHeaders(p)
	}
	var source, destination, seen bool
	for i := range p.headers {
		h := &p.headers[i]
		if len(h.Key) >= message.MaxShortStr {
			return keyTooLong("headers")
		}
		if f := propertyOf(h.Key); f != 0 && !h.Null && validProperty(f, h.Value, p) {
			e.list.set |= f
			e.list.text[at(f)] = h.Value
			continue
		}
		switch h.Key {
		case keyEnqueueTime:
			if h.Null {
				continue
			}
			t, err := localtime.Parse(h.Value, &p.settings.Settings)
			if err != nil {
				return err
			}
			e.list.added, e.list.own = t, true
		case keySeenBy:
			if h.Null {
				continue
			}
			all, err := seenAlso(h.Value, p)
			if err != nil {
				return err
			}
			seen = true
			e.keep(keySeenBy, all)
			continue
		case afterHeader:
			if !h.Null {
				ids, err := value.Parse(value.Text.Array, h.Value, p.settings)
				if err != nil {
					return err
				}
				e.list.ids, e.list.waits = ids.(*value.Array), true
				e.list.after = value.String(value.Text.Array, ids, p.settings)
				continue
			}
		case keyRedeploy:
			if !h.Null {
				if _, err := value.Parse(value.Bool, h.Value, p.settings); err != nil {
					return err
				}
			}
		case keySourceDB:
			source = true
		case keyDestinationQueue:
			destination = true
		}
		e.keepPair(keptKey(h.Key), h)
	}
	// In hstore's key order, so that readers need not sort.
	if !seen {
		e.keep(keySeenBy, arrayOf(p.database))
	}
	if !source {
		e.keep(keySourceDB, p.database)
	}
	if !e.list.own {
		e.keepTime(keyEnqueueTime, e.list.added)
	}
	if !destination {
		e.keep(keyDestinationQueue, p.queue)
	}
	return nil
}

// keepHeaders keeps all headers unchanged.
func (e *encoder) keepHeaders(p *posting) error {
	for i := range p.headers {
		h := &p.headers[i]
		if len(h.Key) >= message.MaxShortStr {
			return keyTooLong("headers")
		}
		if h.Key == keyEnqueueTime && !h.Null {
			if t, err := localtime.Parse(h.Value, &p.settings.Settings); err == nil {
				e.list.added, e.list.own = t, true
			}
		}
		e.keepPair(keptKey(h.Key), h)
	}
	return nil
}

// keepTimes keeps the exact times, which the engine rounds to milliseconds.
func (e *encoder) keepTimes(p *posting) {
	if p.hasDelayed {
		e.keepTime(keyDelayed, p.delayed)
	}
	if p.hasExpires {
		e.keepTime(keyExpires, p.expires)
	}
	if p.noData {
		e.kept = append(message.AppendShortStr(e.kept, keptData), 't', 0)
	}
}

// keptKey returns the name under which a poster's header is kept. The plain names delayed_until and
// expires are reserved for the columns of the record.
func keptKey(key string) string {
	if key == keyDelayed || key == keyExpires || key != "" && key[0] == keptMark {
		return string(keptMark) + key
	}
	return key
}

// keptMark escapes the name of a header that would otherwise be taken for something else.
const keptMark = '='

func (e *encoder) keep(key, text string) {
	e.kept = append(message.AppendShortStr(e.kept, key), 'S')
	e.kept = message.AppendLongStr(e.kept, text)
}

func (e *encoder) keepPair(key string, h *hstore.Pair) {
	if h.Null {
		e.kept = append(message.AppendShortStr(e.kept, key), 'V')
		return
	}
	e.keep(key, h.Value)
}

func (e *encoder) keepTime(key string, t temporal.Timestamp) {
	e.kept = append(message.AppendShortStr(e.kept, key), 'S', 0, 0, 0, 0)
	start := len(e.kept)
	e.kept = localtime.Append(e.kept, t)
	binary.BigEndian.PutUint32(e.kept[start-4:], uint32(len(e.kept)-start))
}

// plainBody returns the body of a message for clients of other protocols. It applies if the poster
// set a content type and the data have only a body key, as in a record consumed from another
// protocol.
func (e *encoder) plainBody(p *posting) ([]byte, bool) {
	if e.list.set&message.HasContentType == 0 || len(p.data) != 1 || p.data[0].Null {
		return nil, false
	}
	if e.list.text[at(message.HasContentType)] == contentType {
		return nil, false
	}
	switch p.data[0].Key {
	case bodyKey:
		return []byte(p.data[0].Value), true
	case base64Key:
		b, err := base64.StdEncoding.DecodeString(p.data[0].Value)
		return b, err == nil
	}
	return nil, false
}

// properties writes the property list.
func (e *encoder) properties(p *posting) error {
	set := e.list.set | message.HasHeaders | message.HasMessageID
	if set&message.HasDeliveryMode == 0 {
		set |= message.HasDeliveryMode
		e.list.text[at(message.HasDeliveryMode)] = "2"
	}
	b := binary.BigEndian.AppendUint16(e.props[:0], uint16(set))
	for i, f := 0, message.HasContentType; f >= message.HasAppID; i, f = i+1, f>>1 {
		if set&f == 0 {
			continue
		}
		text := e.list.text[i]
		switch f {
		case message.HasHeaders:
			var err error
			if b, err = e.appendHeaders(b, p); err != nil {
				return err
			}
		case message.HasDeliveryMode, message.HasPriority:
			n, _ := strconv.Atoi(text)
			b = append(b, byte(n))
		case message.HasMessageID:
			b = message.AppendShortStr(b, p.iid)
		case message.HasTimestamp:
			t, _ := localtime.ParseISO(text)
			b = binary.BigEndian.AppendUint64(b, uint64(localtime.Instant(t, p.settings.Zone)/1e6))
		default:
			b = message.AppendShortStr(b, text)
		}
	}
	e.props = b
	return nil
}

// appendHeaders writes the header table: the properties of the record, consume_after, and the kept
// headers.
func (e *encoder) appendHeaders(b []byte, p *posting) ([]byte, error) {
	b = append(b, 0, 0, 0, 0)
	start := len(b)
	aside := len(p.properties) == 0 && !p.noProperties
	for i := range p.properties {
		h := &p.properties[i]
		if len(h.Key) >= message.MaxShortStr {
			return b, keyTooLong("properties")
		}
		if reserved(h.Key) {
			aside = true
			continue
		}
		b = appendField(b, h)
	}
	if e.list.waits {
		b = append(message.AppendShortStr(b, afterHeader), 'S')
		b = message.AppendLongStr(b, e.list.after)
	}
	if aside {
		e.kept = append(message.AppendShortStr(e.kept, keptProperties), 'F', 0, 0, 0, 0)
		inner := len(e.kept)
		for i := range p.properties {
			if h := &p.properties[i]; reserved(h.Key) {
				e.kept = appendField(e.kept, h)
			}
		}
		binary.BigEndian.PutUint32(e.kept[inner-4:], uint32(len(e.kept)-inner))
	}
	b = append(message.AppendShortStr(b, keptHeader), 'F')
	b = message.AppendLongStr(b, e.kept)
	binary.BigEndian.PutUint32(b[start-4:], uint32(len(b)-start))
	return b, nil
}

// reserved reports whether a header of this name has a special meaning in a message.
func reserved(key string) bool { return key == keptHeader || key == afterHeader }

func appendField(b []byte, h *hstore.Pair) []byte {
	b = message.AppendShortStr(b, h.Key)
	if h.Null {
		return append(b, 'V')
	}
	return message.AppendLongStr(append(b, 'S'), h.Value)
}

// propertyOf returns the AMQP property for a header name, or 0 if there is none.
func propertyOf(key string) message.PropertyFlags {
	switch key {
	case "content_type":
		return message.HasContentType
	case "content_encoding":
		return message.HasContentEncoding
	case "delivery_mode":
		return message.HasDeliveryMode
	case "priority":
		return message.HasPriority
	case "correlation_id":
		return message.HasCorrelationID
	case "reply_to":
		return message.HasReplyTo
	case "expiration":
		return message.HasExpiration
	case "timestamp":
		return message.HasTimestamp
	case "type":
		return message.HasType
	case "user_id":
		return message.HasUserID
	case "app_id":
		return message.HasAppID
	}
	return 0
}

// validProperty reports whether the property can store the text and return it unchanged. Other
// texts are kept as ordinary headers.
func validProperty(f message.PropertyFlags, text string, p *posting) bool {
	if len(text) > message.MaxShortStr {
		return false
	}
	switch f {
	case message.HasDeliveryMode:
		return text == "1" // SQL sends 2 by default
	case message.HasPriority:
		n, err := strconv.ParseUint(text, 10, 8)
		return err == nil && strconv.FormatUint(n, 10) == text
	case message.HasExpiration:
		n, err := strconv.ParseUint(text, 10, 32)
		return err == nil && strconv.FormatUint(n, 10) == text
	case message.HasTimestamp:
		t, ok := localtime.ParseISO(text)
		if !ok || len(text) != 19 || t < -localtime.Unix2000*1e6 {
			return false
		}
		return localtime.OfUnix(localtime.Instant(t, p.settings.Zone)/1e6, p.settings.Zone) == t
	case message.HasUserID:
		return text == p.user
	}
	return true
}

// seenAlso adds the database to the list of databases that a message has passed through.
func seenAlso(list string, p *posting) (string, error) {
	d, err := value.Parse(value.Text.Array, list, p.settings)
	if err != nil {
		return "", err
	}
	a := d.(*value.Array)
	if len(a.Dims) > 1 {
		return "", pgerror.New("2202E", "argument must be empty or one-dimensional array")
	}
	more := &value.Array{Elem: value.Text, Dims: []value.Dim{{Len: 1, Lower: 1}}}
	if len(a.Dims) == 1 {
		more.Dims[0] = value.Dim{Len: a.Dims[0].Len + 1, Lower: a.Dims[0].Lower}
	}
	more.Elems = append(append(more.Elems, a.Elems...), p.database)
	return value.String(value.Text.Array, more, p.settings), nil
}

// plain are the settings that texts in messages are written with.
var plain = value.Defaults()

// arrayOf returns the text of an array with one element.
func arrayOf(s string) string {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.') || len(s) == 4 {
			a := &value.Array{Elem: value.Text, Dims: []value.Dim{{Len: 1, Lower: 1}}, Elems: []value.Datum{s}}
			return value.String(value.Text.Array, a, &plain)
		}
	}
	return "{" + s + "}"
}

func keyTooLong(argument string) error {
	return pgerror.New(pgerror.InvalidParameterValue, "a key of %s is longer than %d bytes", argument, message.MaxShortStr-1)
}

// textSize estimates the length of the text of m.
func textSize(m hstore.Map) (n int) {
	for i := range m {
		n += len(m[i].Key) + len(m[i].Value) + len(`""=>"", `)
	}
	return n
}

// wellFormed reports whether b is valid text for PostgreSQL.
func wellFormed(b []byte) bool {
	if slices.Contains(b, 0) {
		return false
	}
	return utf8.Valid(b)
}
