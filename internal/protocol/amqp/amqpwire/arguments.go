package amqpwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
)

// arguments reads the arguments of a method into its fields, or appends the fields as arguments, so
// that a method lists its arguments once. The methods are named after the types of the
// specification.
type arguments struct {
	message.Reader        // of the payload, if it reads
	appends        bool   // it appends instead of reading
	dst            []byte // to which it appends
}

// pool holds arguments that are not in use.
var pool = sync.Pool{New: func() any { return new(arguments) }}

func (a *arguments) release() {
	*a = arguments{}
	pool.Put(a)
}

// end returns an error if the payload of a method was too short or too long.
func end(r *message.Reader, id MethodID) error {
	if r.Err() == nil && r.Len() == 0 {
		return nil
	}
	return malformed(r, id)
}

// malformed is separate so that end can be inlined.
func malformed(r *message.Reader, id MethodID) error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %v: %w", ErrMalformedMethod, id, err)
	}
	return fmt.Errorf("%w: %v: %d bytes after the last argument", ErrMalformedMethod, id, r.Len())
}

func (a *arguments) octet(v *uint8) {
	if a.appends {
		a.dst = append(a.dst, *v)
	} else {
		*v = a.Uint8()
	}
}

func (a *arguments) short(v *uint16) {
	if a.appends {
		a.dst = binary.BigEndian.AppendUint16(a.dst, *v)
	} else {
		*v = a.Uint16()
	}
}

func (a *arguments) long(v *uint32) {
	if a.appends {
		a.dst = binary.BigEndian.AppendUint32(a.dst, *v)
	} else {
		*v = a.Uint32()
	}
}

func (a *arguments) longlong(v *uint64) {
	if a.appends {
		a.dst = binary.BigEndian.AppendUint64(a.dst, *v)
	} else {
		*v = a.Uint64()
	}
}

// bits handles up to eight consecutive bit arguments, which share an octet, the first in the lowest
// bit (section 4.2.5.2).
func (a *arguments) bits(flags ...*bool) {
	if a.appends {
		var octet byte
		for i, flag := range flags {
			octet |= bit(*flag) << i
		}
		a.dst = append(a.dst, octet)
		return
	}
	octet := a.Uint8()
	for i, flag := range flags {
		*flag = octet&(1<<i) != 0
	}
}

// shortStr handles a short string of any bytes.
func (a *arguments) shortStr(v *string) {
	if a.appends {
		a.dst = message.AppendShortStr(a.dst, *v)
	} else {
		*v = string(a.ShortStr())
	}
}

// shortBytes is shortStr for a field that aliases the payload.
func (a *arguments) shortBytes(v *[]byte) {
	if a.appends {
		a.dst = message.AppendShortStr(a.dst, *v)
	} else {
		*v = a.ShortStr()
	}
}

// name is shortStr for names, which must be valid UTF-8. Only messages may carry any bytes.
func (a *arguments) name(v *string) {
	a.shortStr(v)
	if !a.appends && !utf8.ValidString(*v) {
		a.Fail(ErrNotUTF8)
		*v = ""
	}
}

// text is shortStr for text that people read. A text that is too long is cut.
func (a *arguments) text(v *string) {
	if a.appends {
		a.dst = message.AppendShortStr(a.dst, cut(*v))
	} else {
		*v = string(a.ShortStr())
	}
}

func (a *arguments) longStr(v *string) {
	if a.appends {
		a.dst = message.AppendLongStr(a.dst, *v)
	} else {
		*v = string(a.LongStr())
	}
}

func (a *arguments) longBytes(v *[]byte) {
	if a.appends {
		a.dst = message.AppendLongStr(a.dst, *v)
	} else {
		*v = bytes.Clone(a.LongStr())
	}
}

func (a *arguments) table(v *message.Table) {
	if a.appends {
		a.dst = message.AppendTable(a.dst, *v)
	} else {
		*v = a.Table()
	}
}

// Reserved arguments are written as zero and ignored when read.

func (a *arguments) reservedOctet() {
	var zero uint8
	a.octet(&zero)
}

func (a *arguments) reservedShort() {
	var zero uint16
	a.short(&zero)
}

func (a *arguments) reservedShortStr() {
	var empty []byte
	a.shortBytes(&empty)
}

func (a *arguments) reservedLongStr() {
	if a.appends {
		a.dst = message.AppendLongStr(a.dst, "")
	} else {
		a.LongStr()
	}
}
