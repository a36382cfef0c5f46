package duel

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Text formats a message in one line, with the fields ordered by number and revisions relative to
// base. It omits what may differ between two correct servers.
func Text(m proto.Message, base int64) string {
	var b strings.Builder
	writeMessage(&b, m.ProtoReflect(), base)
	return b.String()
}

func writeMessage(b *strings.Builder, m protoreflect.Message, base int64) {
	var fields []protoreflect.FieldDescriptor
	m.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, f)
		return true
	})
	slices.SortFunc(fields, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number() - b.Number()) })
	b.WriteByte('{')
	separator := ""
	for _, f := range fields {
		if freeFields[f.FullName()] {
			continue
		}
		b.WriteString(separator)
		separator = " "
		writeField(b, m, f, base)
	}
	b.WriteByte('}')
}

func writeField(b *strings.Builder, m protoreflect.Message, f protoreflect.FieldDescriptor, base int64) {
	v := m.Get(f)
	fmt.Fprintf(b, "%s:", f.Name())
	if !f.IsList() {
		writeValue(b, m, f, v, base)
		return
	}
	var parts []string
	for i := range v.List().Len() {
		var part strings.Builder
		writeValue(&part, m, f, v.List().Get(i), base)
		parts = append(parts, part.String())
	}
	if unordered[m.Descriptor().Name()] {
		slices.Sort(parts)
	}
	fmt.Fprintf(b, "%s", parts)
}

func writeValue(b *strings.Builder, m protoreflect.Message, f protoreflect.FieldDescriptor, v protoreflect.Value, base int64) {
	switch {
	case f.Kind() == protoreflect.MessageKind:
		writeMessage(b, v.Message(), base)
	case f.Kind() == protoreflect.BytesKind:
		fmt.Fprintf(b, "%.80q", v.Bytes())
	case f.Kind() == protoreflect.StringKind:
		fmt.Fprintf(b, "%q", v.String())
	case f.Kind() == protoreflect.EnumKind:
		fmt.Fprint(b, f.Enum().Values().ByNumber(v.Enum()).Name())
	case isRevision[f.Name()]:
		fmt.Fprintf(b, "@%d", v.Int()-base)
	case f.FullName() == "etcdserverpb.LeaseTimeToLiveResponse.TTL":
		fmt.Fprint(b, roughly(v.Int(), m.Get(m.Descriptor().Fields().ByName("grantedTTL")).Int()))
	default:
		fmt.Fprint(b, v.Interface())
	}
}

var isRevision = map[protoreflect.Name]bool{"revision": true, "mod_revision": true, "create_revision": true, "compact_revision": true, "rev": true}

// unordered are the messages whose lists have no defined order.
var unordered = map[protoreflect.Name]bool{"LeaseLeasesResponse": true, "LeaseTimeToLiveResponse": true, "AlarmResponse": true}

// roughly rounds a remaining time up to the granted one if only some seconds may have passed.
func roughly(left, granted int64) int64 {
	if left < granted && left >= granted-5 {
		return granted
	}
	return left
}
