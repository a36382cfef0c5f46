package semjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Decode decodes a text that consists of exactly one JSON value. It rejects fields that v does not
// have, since they are probably mistakes, and text that is not UTF-8, since decoding would change
// names. The error text is for the client.
func Decode(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("the request is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(v); {
	case errors.Is(err, io.EOF):
		return errors.New("the request is empty")
	case err != nil:
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the request")
	}
	return nil
}
