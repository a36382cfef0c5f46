package carmine

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"fiveways.dev/fiveways/worker/carmine/nippy"
)

// The content types of bodies, in the header ContentTypeHeader of a taken or enqueued job.
const (
	ContentTypeHeader = "content-type"
	Text              = ""                         // a string; the header is absent
	Bytes             = "application/octet-stream" // a byte array
	JSON              = "application/json"         // any other value, as JSON of package nippy
	Nippy             = "application/x-nippy"      // the output of Nippy, with its header
)

// The marks with which Carmine prefixes values that are not strings.
var (
	bytesMark = []byte("\x00<")
	nippyMark = []byte("\x00>")
	nilMark   = []byte("\x00_")
)

// Codec converts the body of a job to what Redis stores and back. Clojure workers must be able to
// read what it writes. The default is Values.
type Codec interface {
	// Encode returns what to store for a body with a content type.
	Encode(body []byte, contentType string) ([]byte, error)
	// Decode returns the body and its content type. A job for which it fails stays in the queue.
	Decode(kept []byte) (body []byte, contentType string, err error)
}

// Values is the Codec that thaws and freezes values like Carmine. Strings become bodies of type
// Text, byte arrays of type Bytes, and all other values JSON. A body without a type that is not
// UTF-8 is stored as a byte array. A body of type Nippy is stored unchanged.
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

// Marks is the Codec that only adds and removes Carmine's marks. Clojure reads a body of type Text
// as a string, and one of type Bytes as a byte array. Frozen values, which is all that Carmine
// enqueues, are returned unchanged without their mark, with the type Nippy. A body of type Text
// that cannot be a Clojure string, because it is not UTF-8 or begins with a zero byte, is stored as
// a byte array.
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
