package message

// FindHeader returns the first value called name of a raw table (without its length): its type
// letter and its bytes, which alias raw, without the length in front of text, octets, tables and
// arrays. Nothing is decoded or allocated. As with HeaderLookup, the data after the value is not
// validated, and a table that is malformed earlier counts as not having the name.
func FindHeader(raw []byte, name string) (letter byte, value []byte, ok bool) {
	r := NewReader(raw)
	for r.Len() > 0 {
		found := string(r.ShortStr()) == name
		start := r.Rest()
		skipValue(&r, 1)
		if r.Err() != nil {
			return 0, nil, false
		}
		if !found {
			continue
		}
		letter, value = start[0], start[1:len(start)-r.Len()]
		switch letter {
		case 'S', 'x', 'F', 'A':
			value = value[4:]
		}
		return letter, value, true
	}
	return 0, nil, false
}

// FindProperty returns the bytes of one property of a list: text and headers without their length,
// numbers in big-endian order. Slices alias list. ok is false if the property is not set or the
// list is malformed before its end. which is a single flag.
func FindProperty(list []byte, which PropertyFlags) (value []byte, ok bool) {
	r := NewReader(list)
	flags := readFlags(&r)
	if flags&which == 0 {
		return nil, false
	}
	for f := HasContentType; ; f >>= 1 {
		if flags&f == 0 {
			continue
		}
		switch f {
		case HasHeaders:
			value = r.LongStr()
		case HasDeliveryMode, HasPriority:
			value = r.Bytes(1)
		case HasTimestamp:
			value = r.Bytes(8)
		default:
			value = r.ShortStr()
		}
		if f == which || r.Err() != nil {
			return value, r.Err() == nil
		}
	}
}

// NextField splits the first field off a raw table: its name, its type letter and its bytes in the
// form of FindHeader. ok is false if there is none, or if it is malformed. It does not look into
// tables and arrays.
func NextField(raw []byte) (name []byte, letter byte, value, rest []byte, ok bool) {
	r := NewReader(raw)
	name = r.ShortStr()
	start := r.Rest()
	if len(start) == 0 {
		return nil, 0, nil, nil, false
	}
	switch letter = start[0]; letter {
	case 'S', 'x', 'F', 'A':
		r.Uint8()
		value = r.LongStr()
	default:
		skipValue(&r, 1)
		value = start[1 : len(start)-r.Len()]
	}
	return name, letter, value, r.Rest(), r.Err() == nil
}
