package value

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// SemaphoreStatus is the status of a semaphore task.
var SemaphoreStatus = enum(OIDSemaphoreStatus, OIDSemaphoreStatusArr, "markup", "semaphore_status", "WAIT", "ACQUIRED", "TRY_RELEASE")

// enum returns an enumeration type with its labels in order.
func enum(oid, array uint32, schema, name string, labels ...string) *Type {
	return withArray(register(&Type{
		OID: oid, Name: name, SQLName: schema + "." + name, Schema: schema, Len: 4, Category: 'E', Kind: 'e', Labels: labels,
	}), array)
}

// IsEnum reports whether t is an enumeration.
func (t *Type) IsEnum() bool { return t.Kind == 'e' }

// parseLabel parses a value of an enumeration.
func parseLabel(t *Type, s string) (Datum, error) {
	if !slices.Contains(t.Labels, s) {
		return nil, pgerror.New(pgerror.InvalidText, `invalid input value for enum %s: "%s"`, t, s)
	}
	return s, nil
}

// compareLabels compares by the declaration order of the labels.
func compareLabels(t *Type, a, b string) int {
	return cmp.Compare(slices.Index(t.Labels, a), slices.Index(t.Labels, b))
}
