package message

import "encoding/binary"

// AppendWithLong appends an encoded property list with one additional header, a 64-bit integer that
// replaces an existing header of its name. Errors: ErrMalformedProperties, ErrMalformedTable.
func AppendWithLong(dst, list []byte, name string, v int64) ([]byte, error) {
	r := NewReader(list)
	flags := readFlags(&r)
	if flags&HasContentType != 0 {
		r.ShortStr()
	}
	if flags&HasContentEncoding != 0 {
		r.ShortStr()
	}
	at := len(list) - r.Len()
	var headers []byte
	if flags&HasHeaders != 0 {
		headers = r.LongStr()
	}
	if r.Err() != nil {
		return dst, propertiesError(&r)
	}
	if _, there := HeaderLookup(headers, name); there {
		p, err := DecodeProperties(list)
		if err != nil {
			return dst, err
		}
		p.Headers.Set(name, v)
		return p.Append(dst), nil
	}
	const longTag = 'l'
	dst = binary.BigEndian.AppendUint16(dst, uint16(flags|HasHeaders))
	dst = append(dst, list[2:at]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(headers)+1+len(name)+1+8))
	dst = append(AppendShortStr(append(dst, headers...), name), longTag)
	dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	return append(dst, list[len(list)-r.Len():]...), nil
}
