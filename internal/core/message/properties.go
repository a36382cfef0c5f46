package message

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// PropertyFlags is the set of properties in a list, one bit each, as in the first word on the wire.
type PropertyFlags uint16

// The bits of PropertyFlags in the order of the fields (AMQP 0-9-1, class basic). Bit 0 announces a
// further flag word and bit 1 belongs to no property; both are refused.
const (
	HasContentType PropertyFlags = 1 << (15 - iota)
	HasContentEncoding
	HasHeaders
	HasDeliveryMode
	HasPriority
	HasCorrelationID
	HasReplyTo
	HasExpiration
	HasMessageID
	HasTimestamp
	HasType
	HasUserID
	HasAppID
	HasClusterID

	unknownFlags PropertyFlags = 0b11
)

// Delivery modes. A list without one means transient.
const (
	Transient  uint8 = 1
	Persistent uint8 = 2
)

// Properties is a decoded property list. Flags determines what is encoded: a field without its flag
// is not sent, and a flag without a value sends an empty one. Strings have at most MaxShortStr
// bytes.
type Properties struct {
	Flags PropertyFlags

	ContentType     string
	ContentEncoding string
	Headers         Table
	DeliveryMode    uint8 // Transient or Persistent
	Priority        uint8
	CorrelationID   string
	ReplyTo         string
	Expiration      string // decimal milliseconds
	MessageID       string
	Timestamp       Timestamp
	Type            string
	UserID          string
	AppID           string
	ClusterID       string
}

// Has reports whether all properties of f are set.
func (p *Properties) Has(f PropertyFlags) bool { return p.Flags&f == f }

// DecodeProperties decodes a whole property list; the result does not alias b. The error wraps
// ErrMalformedProperties or the errors of DecodeTable.
func DecodeProperties(b []byte) (Properties, error) {
	r := NewReader(b)
	var p Properties
	p.Flags = readFlags(&r)
	str := func(f PropertyFlags) string {
		if !p.Has(f) {
			return ""
		}
		return string(r.ShortStr())
	}
	octet := func(f PropertyFlags) uint8 {
		if !p.Has(f) {
			return 0
		}
		return r.Uint8()
	}
	p.ContentType = str(HasContentType)
	p.ContentEncoding = str(HasContentEncoding)
	if p.Has(HasHeaders) {
		p.Headers = r.Table()
	}
	p.DeliveryMode = octet(HasDeliveryMode)
	p.Priority = octet(HasPriority)
	p.CorrelationID = str(HasCorrelationID)
	p.ReplyTo = str(HasReplyTo)
	p.Expiration = str(HasExpiration)
	p.MessageID = str(HasMessageID)
	if p.Has(HasTimestamp) {
		p.Timestamp = Timestamp(r.Uint64())
	}
	p.Type = str(HasType)
	p.UserID = str(HasUserID)
	p.AppID = str(HasAppID)
	p.ClusterID = str(HasClusterID)
	if err := propertiesError(&r); err != nil {
		return Properties{}, err
	}
	return p, nil
}

// readFlags reads the flag word and refuses flags that no property of class basic uses.
func readFlags(r *Reader) PropertyFlags {
	flags := PropertyFlags(r.Uint16())
	if flags&unknownFlags != 0 {
		r.Fail(fmt.Errorf("%w: flag word %#04x", ErrMalformedProperties, uint16(flags)))
		return 0
	}
	return flags
}

// propertiesError returns the error of reading a list: fields are missing, or bytes are left.
func propertiesError(r *Reader) error {
	err := r.Err()
	switch {
	case err == nil && r.Len() == 0:
		return nil
	case err == nil:
		return fmt.Errorf("%w: %d bytes after the last field", ErrMalformedProperties, r.Len())
	case errors.Is(err, ErrMalformedProperties):
		return err
	}
	return fmt.Errorf("%w: %w", ErrMalformedProperties, err)
}

// Append appends the flag word and the fields that it announces.
func (p *Properties) Append(dst []byte) []byte {
	flags := p.Flags &^ unknownFlags
	dst = binary.BigEndian.AppendUint16(dst, uint16(flags))
	str := func(f PropertyFlags, s string) {
		if flags&f != 0 {
			dst = AppendShortStr(dst, s)
		}
	}
	octet := func(f PropertyFlags, v uint8) {
		if flags&f != 0 {
			dst = append(dst, v)
		}
	}
	str(HasContentType, p.ContentType)
	str(HasContentEncoding, p.ContentEncoding)
	if p.Has(HasHeaders) {
		dst = AppendTable(dst, p.Headers)
	}
	octet(HasDeliveryMode, p.DeliveryMode)
	octet(HasPriority, p.Priority)
	str(HasCorrelationID, p.CorrelationID)
	str(HasReplyTo, p.ReplyTo)
	str(HasExpiration, p.Expiration)
	str(HasMessageID, p.MessageID)
	if p.Has(HasTimestamp) {
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.Timestamp))
	}
	str(HasType, p.Type)
	str(HasUserID, p.UserID)
	str(HasAppID, p.AppID)
	str(HasClusterID, p.ClusterID)
	return dst
}
