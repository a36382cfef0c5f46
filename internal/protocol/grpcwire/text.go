package grpcwire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const detailsField = "grpc-status-details-bin"

// Errors of the transport for handlers. The texts are grpc-go's.
var (
	errHeadersOut      = status.Error(codes.Internal, "transport: SendHeader called multiple times")
	errHeadersTooLarge = status.Error(codes.Internal, "transport: trying to send header list size larger than the limit set by peer")
)

// statusOf returns the status of an error that a handler returned, or nil for nil.
func statusOf(err error) *status.Status {
	if err == nil {
		return nil
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return status.FromContextError(err)
}

// contextErr returns the error of a context as RecvMsg and SendMsg return it.
func contextErr(err error) error { return status.FromContextError(err).Err() }

// streamErr returns an error as the client of a stream receives it.
func streamErr(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return status.Error(codes.Internal, err.Error())
	}
	return statusOf(err).Err()
}

// isReserved reports whether gRPC or HTTP/2 reserves the field name.
func isReserved(name string) bool {
	switch name {
	case "content-type", "user-agent", "grpc-message-type", "grpc-encoding", "grpc-message", "grpc-status", "grpc-timeout", "te":
		return true
	}
	return strings.HasPrefix(name, ":")
}

// isBinary reports whether the values of a field are base64-encoded.
func isBinary(name string) bool { return strings.HasSuffix(name, "-bin") }

func encodeBinary(v string) string { return base64.RawStdEncoding.EncodeToString([]byte(v)) }

// decodeBinary decodes base64 with or without padding.
func decodeBinary(v string) (string, error) {
	encoding := base64.RawStdEncoding
	if len(v)%4 == 0 {
		encoding = base64.StdEncoding
	}
	b, err := encoding.DecodeString(v)
	return string(b), err
}

// escapeMessage encodes a text for grpc-message: printable ASCII, with everything else
// percent-encoded.
func escapeMessage(text string) string {
	plain := true
	for i := range len(text) {
		plain = plain && text[i] >= ' ' && text[i] <= '~' && text[i] != '%'
	}
	if plain {
		return text
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, 2*len(text))
	for _, r := range text { // invalid UTF-8 becomes the replacement character
		if r >= ' ' && r <= '~' && r != '%' {
			b = append(b, byte(r))
			continue
		}
		for _, x := range utf8.AppendRune(nil, r) {
			b = append(b, '%', hex[x>>4], hex[x&15])
		}
	}
	return string(b)
}

// parseTimeout parses a grpc-timeout value.
func parseTimeout(s string) (time.Duration, error) {
	const mostDigits = 8
	switch {
	case len(s) < 2:
		return 0, fmt.Errorf("transport: timeout string is too short: %q", s)
	case len(s) > mostDigits+1:
		return 0, fmt.Errorf("transport: timeout string is too long: %q", s)
	}
	unit := map[byte]time.Duration{
		'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
	}[s[len(s)-1]]
	if unit == 0 {
		return 0, fmt.Errorf("transport: timeout unit is not recognized: %q", s)
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 64)
	if err != nil {
		return 0, err
	}
	const forever = 1<<63 - 1
	if n > forever/uint64(unit) {
		return forever, nil
	}
	return time.Duration(n) * unit, nil
}
