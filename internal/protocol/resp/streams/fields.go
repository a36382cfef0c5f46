package streams

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// An entry of a stream is stored as a message. The value of its field "body" becomes the body, and
// the other fields become headers in their order. When a message is read as an entry, the body
// comes first, and is omitted if it is empty and there are headers. Fields that would not survive
// this conversion are kept in an extra header or, if they are large, as the body, with a special
// content type.
const (
	bodyField   = "body"
	exactHeader = "x-stream-fields"
	exactType   = "application/x-stream-fields"
	mostHeaders = 64 << 10 // bytes of headers, which must fit into one AMQP frame
)

// messageOf returns the properties and the body of a message with these fields and values.
func messageOf(fields [][]byte) (props, body []byte) {
	if len(fields) == 2 && string(fields[0]) == bodyField {
		return plainProps, fields[1]
	}
	t := make(message.Table, 0, len(fields)/2+1)
	size, exact, hasBody := 0, true, false
	for i := 0; i < len(fields); i += 2 {
		name := fields[i]
		size += len(name) + len(fields[i+1]) + 6
		switch {
		case string(name) == bodyField && !hasBody:
			exact = exact && i == 0 && len(fields[i+1]) > 0
			hasBody, body = true, fields[i+1]
		case len(name) > message.MaxShortStr || string(name) == exactHeader || string(name) == bodyField || has(t, name):
			exact = false
		default:
			t = append(t, message.Field{Name: string(name), Value: string(fields[i+1])})
		}
	}
	p := message.Properties{Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: message.Persistent, Headers: t}
	switch {
	case exact && size <= mostHeaders:
	case 2*size <= mostHeaders:
		p.Headers = append(p.Headers, message.Field{Name: exactHeader, Value: message.Bytes(appendFields(nil, fields))})
	default:
		p = message.Properties{Flags: message.HasDeliveryMode | message.HasContentType, DeliveryMode: message.Persistent, ContentType: exactType}
		body = appendFields(nil, fields)
	}
	return p.Append(nil), body
}

// plainProps holds the properties of a message that has only a body.
var plainProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}).Append(nil)

func has(t message.Table, name []byte) bool {
	for i := range t {
		if t[i].Name == string(name) {
			return true
		}
	}
	return false
}

// appendFields appends fields and values, each prefixed with its length.
func appendFields(dst []byte, fields [][]byte) []byte {
	for _, f := range fields {
		dst = codec.AppendPrefixed(dst, f)
	}
	return dst
}

// exactFields decodes what appendFields wrote. It returns nil if b is malformed.
func exactFields(b []byte) (fields [][]byte) {
	r := codec.NewReader(b)
	for r.Len() > 0 {
		fields = append(fields, r.Prefixed())
	}
	if r.Err() != nil || len(fields)%2 != 0 {
		return nil
	}
	return fields
}

// fieldsOf returns the fields and values as which a message is shown.
func fieldsOf(env message.Envelope) [][]byte {
	_, _, props, body := env.Split()
	if kind, ok := message.FindProperty(props, message.HasContentType); ok && string(kind) == exactType {
		if fields := exactFields(body); fields != nil {
			return fields
		}
	}
	headers, _ := message.FindProperty(props, message.HasHeaders)
	if letter, value, ok := message.FindHeader(headers, exactHeader); ok && letter == 'x' {
		if fields := exactFields(value); fields != nil {
			return fields
		}
	}
	var fields [][]byte
	if len(body) > 0 || len(headers) == 0 {
		fields = append(fields, []byte(bodyField), body)
	}
	for len(headers) > 0 {
		name, letter, value, rest, ok := message.NextField(headers)
		if !ok {
			break
		}
		if letter != 'S' && letter != 'x' {
			v, _ := message.HeaderLookup(headers, string(name))
			value = headerText(v)
		}
		fields = append(fields, name, value)
		headers = rest
	}
	if fields == nil {
		fields = append(fields, []byte(bodyField), body)
	}
	return fields
}

// headerText returns the value of a header that is not text, as text.
func headerText(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case float32:
		return strconv.AppendFloat(nil, float64(v), 'g', -1, 32)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	case message.Decimal:
		return []byte(v.Text())
	case message.Table, message.Array:
		text, err := json.Marshal(jsonOf(v))
		if err != nil {
			return nil
		}
		return text
	}
	return fmt.Append(nil, v)
}

// jsonOf converts the value of a header to a type that JSON supports.
func jsonOf(v any) any {
	switch v := v.(type) {
	case message.Table:
		m := make(map[string]any, len(v))
		for _, f := range v {
			m[f.Name] = jsonOf(f.Value)
		}
		return m
	case message.Array:
		a := make([]any, len(v))
		for i := range v {
			a[i] = jsonOf(v[i])
		}
		return a
	case message.Bytes:
		return base64.StdEncoding.EncodeToString(v)
	case float32, float64, message.Decimal:
		return string(headerText(v))
	}
	return v
}

// writeEntry writes an entry. A removed entry has null in place of its fields.
func writeEntry(w *respwire.Writer, e *streams.Entry) {
	w.Array(2)
	writeID(w, e.ID)
	if e.Env == nil {
		w.NullArray()
		return
	}
	fields := fieldsOf(e.Env)
	w.Array(len(fields))
	for _, f := range fields {
		w.Bulk(f)
	}
}

func writeEntries(w *respwire.Writer, list []streams.Entry) {
	w.Array(len(list))
	for i := range list {
		writeEntry(w, &list[i])
	}
}
