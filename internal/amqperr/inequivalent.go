package amqperr

import (
	"fmt"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
)

// inequivalentText tells how two declarations differ. The engine's differences
// of exchanges come worded.
func inequivalentText(e *failure.Error) string {
	received, current := e.Received, e.Current
	if e.Kind == "queue" {
		typed := received == nil || current == nil
		received, current = phrase(received, typed), phrase(current, typed)
	}
	return fmt.Sprintf("inequivalent arg '%s' for %s: received %v but current is %v",
		e.Arg, Resource(e.Kind, e.Name, e.VHost), received, current)
}

// phrase words a value of a queue's declaration, with its type where there is
// no other value to compare it with.
func phrase(v any, typed bool) string {
	if v == nil {
		return "none"
	}
	kind := message.TypeName(v)
	switch x := v.(type) {
	case message.Decimal:
		v = fmt.Sprintf("{%d,%d}", x.Scale, x.Value)
	case message.Bytes:
		v = string(x)
	case float32:
		v = floatText(float64(x), 32)
	case float64:
		v = floatText(x, 64)
	}
	if typed {
		return fmt.Sprintf("the value '%v' of type '%s'", v, kind)
	}
	return fmt.Sprintf("'%v'", v)
}

// floatText words a number as RabbitMQ does: with a point, always.
func floatText(x float64, bits int) string {
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
