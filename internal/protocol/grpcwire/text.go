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

// What handlers get from the transport. The texts are grpc-go's.
var (
	errHeadersOut      = status.Error(codes.Internal, "transport: SendHeader called multiple times")
	errHeadersTooLarge = status.Error(codes.Internal, "transport: trying to send header list size larger than the limit set by peer")
)

// statusOf is the status of what a handler returned; nil for nil.
func statusOf(err error) *status.Status {
	if err == nil {
		return nil
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return status.FromContextError(err)
}

// contextErr is the error of a context as handlers get it from RecvMsg and SendMsg.
func contextErr(err error) error { return status.FromContextError(err).Err() }

// streamErr is an error as a stream's client gets it.
func streamErr(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return status.Error(codes.Internal, err.Error())
	}
	return statusOf(err).Err()
}

// isReserved tells the names of gRPC's and HTTP/2's own fields.
func isReserved(name string) bool {
	switch name {
	case "content-type", "user-agent", "grpc-message-type", "grpc-encoding", "grpc-message", "grpc-status", "grpc-timeout", "te":
		return true
	}
	return strings.HasPrefix(name, ":")
}

// isBinary reports whether the values of a field are in base64.
func isBinary(name string) bool { return strings.HasSuffix(name, "-bin") }

func encodeBinary(v string) string { return base64.RawStdEncoding.EncodeToString([]byte(v)) }

// decodeBinary takes base64 with and without padding.
func decodeBinary(v string) (string, error) {
	encoding := base64.RawStdEncoding
	if len(v)%4 == 0 {
		encoding = base64.StdEncoding
	}
	b, err := encoding.DecodeString(v)
	return string(b), err
}

// escapeMessage puts a text into the form that grpc-message has: printable ASCII,
// the rest in per cent.
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
	for _, r := range text { // what is no UTF-8 becomes the replacement character
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

// parseTimeout reads grpc-timeout.
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
