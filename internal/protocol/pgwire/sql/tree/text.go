package tree

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Text returns a text that is equal for equivalent parse trees, wherever they occur.
func Text(n *pg.Node) string {
	var b strings.Builder
	writeTree(&b, n.ProtoReflect())
	return b.String()
}

func writeTree(b *strings.Builder, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	b.WriteString(string(m.Descriptor().Name()))
	b.WriteByte('{')
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Name() == "location" || !m.Has(f) {
			continue
		}
		fmt.Fprintf(b, "%d:", f.Number())
		v := m.Get(f)
		if !f.IsList() {
			writeValue(b, f, v)
			continue
		}
		for j := range v.List().Len() {
			writeValue(b, f, v.List().Get(j))
		}
	}
	b.WriteByte('}')
}

func writeValue(b *strings.Builder, f protoreflect.FieldDescriptor, v protoreflect.Value) {
	if f.Kind() == protoreflect.MessageKind {
		writeTree(b, v.Message())
		return
	}
	fmt.Fprintf(b, "%q,", v.String())
}
