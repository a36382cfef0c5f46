package amqpwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
)

// arguments reads the arguments of a method into its fields, or appends its fields as arguments.
// Its methods are named after the types of the specification.
type arguments struct {
	message.Reader        // of what is read
	appends        bool   // instead of reading
	dst            []byte // what is appended to
}

// walks are arguments that nothing uses.
var walks = sync.Pool{New: func() any { return new(arguments) }}

func (a *arguments) release() {
	*a = arguments{}
	walks.Put(a)
}

// end returns the error of a method that was read: nothing may have been missing and nothing may be
// left.
func end(r *message.Reader, id MethodID) error {
	if r.Err() == nil && r.Len() == 0 {
		return nil
	}
	return malformed(r, id)
}

// malformed is apart from end so that end can be inlined.
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

// bits goes through up to eight bit arguments that stand next to each other in one octet, the first
// in the lowest bit (section 4.2.5.2).
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

// shortStr goes through a short string of any bytes.
func (a *arguments) shortStr(v *string) {
	if a.appends {
		a.dst = message.AppendShortStr(a.dst, *v)
	} else {
		*v = string(a.ShortStr())
	}
}

// shortBytes is shortStr for a field that aliases the bytes that are read.
func (a *arguments) shortBytes(v *[]byte) {
	if a.appends {
		a.dst = message.AppendShortStr(a.dst, *v)
	} else {
		*v = a.ShortStr()
	}
}

// name is shortStr for what clients name or ask for, which must be text. What messages carry may be
// any bytes.
func (a *arguments) name(v *string) {
	a.shortStr(v)
	if !a.appends && !utf8.ValidString(*v) {
		a.Fail(ErrNotUTF8)
		*v = ""
	}
}

// text is shortStr for what is meant for people, and is cut to what fits.
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

// Reserved arguments are written as zero, and whatever they hold is ignored.

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
