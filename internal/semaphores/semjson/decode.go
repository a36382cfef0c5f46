package semjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Decode reads one value from a whole text. Fields that v does not have are an error, for they would be mistakes; so is text that is no UTF-8, which
// would change names on the way. The error is worded for the client.
func Decode(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("the request is no UTF-8")
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
		return errors.New("something follows the request")
	}
	return nil
}
