package carmine

import (
	"bytes"
	"unicode/utf8"
)

// The content types of bodies, in the header ContentTypeHeader of a job that is taken or enqueued.
const (
	ContentTypeHeader = "content-type"
	Text              = ""                         // a string; the header is absent
	Bytes             = "application/octet-stream" // a byte array
	Nippy             = "application/x-nippy"      // any other value of Clojure, frozen by Nippy
)

// The marks that Carmine puts before what is not a string.
var (
	bytesMark = []byte("\x00<")
	nippyMark = []byte("\x00>")
)

// Codec turns the body of a job into what is kept on the Redis, and back. Clojure workers must be able to read what it writes. Without one
// Marks is used; one that thaws Nippy can be put in its place.
type Codec interface {
	// Encode returns what to keep of a body with a content type.
	Encode(body []byte, contentType string) []byte
	// Decode returns the body and its content type. What it does not understand it returns as it is.
	Decode(kept []byte) (body []byte, contentType string)
}

// Marks is the Codec that only puts Carmine's marks on and takes them off: Clojure reads a body of type Text as a string, one of type Bytes as a
// byte array. Frozen values stay as they are, without their mark, with the type Nippy. A body said to be Text that no string of
// Clojure can be, since it is not UTF-8 or begins with a zero byte, is kept as a byte array.
type Marks struct{}

// Encode implements Codec.
func (Marks) Encode(body []byte, contentType string) []byte {
	switch {
	case contentType == Nippy:
		return append(nippyMark[:2:2], body...)
	case contentType == Bytes, !utf8.Valid(body), len(body) > 0 && body[0] == 0:
		return append(bytesMark[:2:2], body...)
	}
	return body
}

// Decode implements Codec.
func (Marks) Decode(kept []byte) (body []byte, contentType string) {
	if rest, ok := bytes.CutPrefix(kept, nippyMark); ok {
		return rest, Nippy
	}
	if rest, ok := bytes.CutPrefix(kept, bytesMark); ok {
		return rest, Bytes
	}
	return kept, Text
}
