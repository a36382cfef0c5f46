package value

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// SemaphoreStatus is what a task of a semaphore may do.
var SemaphoreStatus = enum(OIDSemaphoreStatus, OIDSemaphoreStatusArr, "markup", "semaphore_status", "WAIT", "ACQUIRED", "TRY_RELEASE")

// enum makes an enumeration, whose labels are in their order.
func enum(oid, array uint32, schema, name string, labels ...string) *Type {
	return withArray(register(&Type{
		OID: oid, Name: name, SQLName: schema + "." + name, Schema: schema, Len: 4, Category: 'E', Kind: 'e', Labels: labels,
	}), array)
}

// IsEnum reports whether values are labels.
func (t *Type) IsEnum() bool { return t.Kind == 'e' }

// parseLabel reads a value of an enumeration.
func parseLabel(t *Type, s string) (Datum, error) {
	if !slices.Contains(t.Labels, s) {
		return nil, pgerror.New(pgerror.InvalidText, `invalid input value for enum %s: "%s"`, t, s)
	}
	return s, nil
}

// compareLabels goes by the order in which an enumeration was declared.
func compareLabels(t *Type, a, b string) int {
	return cmp.Compare(slices.Index(t.Labels, a), slices.Index(t.Labels, b))
}
