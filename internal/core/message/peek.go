package message

// Peek is what the publish path needs from a property list. Slices alias the list. A nil slice
// means that the property is not set; an empty one means that it is set but empty.
type Peek struct {
	DeliveryMode uint8 // 0 if not set
	Priority     uint8
	HasPriority  bool
	HasTimestamp bool

	List          []byte // the whole list
	Body          []byte // of the message; set by the owner of the message for conditions of bindings
	Timestamp     Timestamp
	Headers       []byte // payload of the table, not validated: see CheckTable
	CorrelationID []byte
	ReplyTo       []byte
	Expiration    []byte
	MessageID     []byte
	UserID        []byte
}

// Persistent reports whether the publisher asked for a message that survives a restart.
func (p *Peek) Persistent() bool { return p.DeliveryMode == Persistent }

// PeekProperties validates that the fields of b are exactly those that its flags announce, and
// returns what the publish path needs. It allocates nothing and does not look inside the header
// table. The error wraps ErrMalformedProperties.
func PeekProperties(b []byte) (Peek, error) {
	r := NewReader(b)
	p := Peek{List: b}
	flags := readFlags(&r)
	if flags&HasContentType != 0 {
		r.ShortStr()
	}
	if flags&HasContentEncoding != 0 {
		r.ShortStr()
	}
	if flags&HasHeaders != 0 {
		p.Headers = r.LongStr()
	}
	if flags&HasDeliveryMode != 0 {
		p.DeliveryMode = r.Uint8()
	}
	if flags&HasPriority != 0 {
		p.Priority, p.HasPriority = r.Uint8(), true
	}
	if flags&HasCorrelationID != 0 {
		p.CorrelationID = r.ShortStr()
	}
	if flags&HasReplyTo != 0 {
		p.ReplyTo = r.ShortStr()
	}
	if flags&HasExpiration != 0 {
		p.Expiration = r.ShortStr()
	}
	if flags&HasMessageID != 0 {
		p.MessageID = r.ShortStr()
	}
	if flags&HasTimestamp != 0 {
		p.Timestamp, p.HasTimestamp = Timestamp(r.Uint64()), true
	}
	if flags&HasType != 0 {
		r.ShortStr()
	}
	if flags&HasUserID != 0 {
		p.UserID = r.ShortStr()
	}
	if flags&HasAppID != 0 {
		r.ShortStr()
	}
	if flags&HasClusterID != 0 {
		r.ShortStr()
	}
	if err := propertiesError(&r); err != nil {
		return Peek{}, err
	}
	return p, nil
}
