package carmine

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"fiveways.dev/fiveways/worker/carmine/nippy"
)

// The content types of bodies, in the header ContentTypeHeader of a job that is taken or enqueued.
const (
	ContentTypeHeader = "content-type"
	Text              = ""                         // a string; the header is absent
	Bytes             = "application/octet-stream" // a byte array
	JSON              = "application/json"         // any other value of Clojure, as package nippy says it
	Nippy             = "application/x-nippy"      // what Nippy made of a value, with its header
)

// The marks that Carmine puts before what is not a string.
var (
	bytesMark = []byte("\x00<")
	nippyMark = []byte("\x00>")
	nilMark   = []byte("\x00_")
)

// Codec turns the body of a job into what is kept on the Redis, and back. Clojure workers must be
// able to read what it writes. Without one Values is used.
type Codec interface {
	// Encode returns what to keep of a body with a content type.
	Encode(body []byte, contentType string) ([]byte, error)
	// Decode returns the body and its content type. A job of which it fails stays in the queue.
	Decode(kept []byte) (body []byte, contentType string, err error)
}

// Values is the Codec that thaws what Carmine froze, and freezes as Carmine does: strings are
// bodies of type Text, byte arrays of type Bytes, all else is JSON. A body without a type that is
// not UTF-8 is kept as a byte array; one of type Nippy is kept as it is.
type Values struct{}

// Encode implements Codec.
func (Values) Encode(body []byte, contentType string) ([]byte, error) {
	var v any = string(body)
	switch {
	case contentType == Nippy:
		return append(nippyMark[:2:2], body...), nil
	case contentType == JSON:
		var err error
		if v, err = nippy.FromJSON(body); err != nil {
			return nil, fmt.Errorf("carmine: a body of type %s: %w", JSON, err)
		}
	case contentType == Bytes, !utf8.Valid(body):
		v = body
	}
	frozen, err := nippy.Freeze(v)
	return append(nippyMark[:2:2], frozen...), err
}

// Decode implements Codec.
func (Values) Decode(kept []byte) (body []byte, contentType string, err error) {
	if bytes.Equal(kept, nilMark) {
		return []byte("null"), JSON, nil
	}
	frozen, ok := bytes.CutPrefix(kept, nippyMark)
	if !ok {
		return Marks{}.Decode(kept)
	}
	v, err := nippy.Thaw(frozen)
	if err != nil {
		return nil, "", err
	}
	switch v := v.(type) {
	case string:
		return []byte(v), Text, nil
	case []byte:
		return v, Bytes, nil
	}
	body, err = nippy.AppendJSON(nil, v)
	return body, JSON, err
}

// Marks is the Codec that only puts Carmine's marks on and takes them off: Clojure reads a body of
// type Text as a string, one of type Bytes as a byte array. Frozen values, which is all that
// Carmine enqueues, stay as they are, without their mark, with the type Nippy. A body said to be
// Text that no string of Clojure can be, since it is not UTF-8 or begins with a zero byte, is kept
// as a byte array.
type Marks struct{}

// Encode implements Codec.
func (Marks) Encode(body []byte, contentType string) ([]byte, error) {
	switch {
	case contentType == Nippy:
		return append(nippyMark[:2:2], body...), nil
	case contentType == Bytes, !utf8.Valid(body), len(body) > 0 && body[0] == 0:
		return append(bytesMark[:2:2], body...), nil
	}
	return body, nil
}

// Decode implements Codec.
func (Marks) Decode(kept []byte) (body []byte, contentType string, err error) {
	if rest, ok := bytes.CutPrefix(kept, nippyMark); ok {
		return rest, Nippy, nil
	}
	if rest, ok := bytes.CutPrefix(kept, bytesMark); ok {
		return rest, Bytes, nil
	}
	return kept, Text, nil
}
