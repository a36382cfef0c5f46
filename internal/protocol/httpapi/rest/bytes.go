package rest

import (
	"encoding/base64"
	"unicode/utf8"
)

// ShowBytes returns bytes in a form for JSON: text unchanged, anything else as base64. It returns
// at most most bytes, cut at a whole character, or all if most is negative. The encoding is
// "string" or "base64".
func ShowBytes(b []byte, most int) (text, encoding string) {
	if most >= 0 && len(b) > most {
		end := most
		for end > most-utf8.UTFMax && end > 0 && !utf8.RuneStart(b[end]) {
			end--
		}
		b = b[:end]
	}
	if utf8.Valid(b) {
		return string(b), "string"
	}
	return base64.StdEncoding.EncodeToString(b), "base64"
}

// ReadBytes reverses ShowBytes. The encoding "" means "string". Errors: *Refused.
func ReadBytes(text, encoding string) ([]byte, error) {
	switch encoding {
	case "string", "":
		return []byte(text), nil
	case "base64":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, BadRequest("not_base64: it is not base64 with padding")
		}
		return b, nil
	}
	return nil, BadRequest("unsupported_encoding: " + encoding + "; an encoding is string or base64")
}
