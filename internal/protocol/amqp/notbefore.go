package amqp

import (
	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

// notBefore reads the time before which a message is not delivered, in unix ms.
func notBefore(headers []byte) (int64, error) {
	ms, reason := declareargs.NotBefore(headers)
	if reason != "" {
		return 0, faultf(amqpcode.PreconditionFailed, "invalid '%s' header: %s", declareargs.NotBeforeName, reason)
	}
	return ms, nil
}

// marks is a set of the headers of a message that affect its publishing.
type marks uint8

const (
	markKeys      marks = 1 << iota // CC or BCC: further routing keys
	markNotBefore                   // not-before
)

// readMarks looks for them among a message's headers, in one pass.
func readMarks(headers []byte) (found marks) {
	for len(headers) > 0 {
		name, rest := message.SkipHeader(headers)
		switch len(name) {
		case len("CC"), len("BCC"):
			if string(name) == "CC" || string(name) == "BCC" {
				found |= markKeys
			}
		case len(declareargs.NotBeforeName):
			if string(name) == declareargs.NotBeforeName {
				found |= markNotBefore
			}
		}
		headers = rest
	}
	return found
}
