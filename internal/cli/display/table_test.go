package display

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestTable checks that numbers are right-aligned and names left-aligned, whatever characters they
// contain, and that no line ends with blanks.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	err := Table(&out, "NAME\t>SIZE\tNOTE\t>N", func(row func(...any)) {
		row("käse", "62.1 MiB", "", 7)
		row("b\x1b[2J", "512 B", "x", 1234)
	})
	const want = "" +
		"NAME       SIZE  NOTE     N\n" +
		"käse   62.1 MiB           7\n" +
		"b�[2J     512 B  x     1234\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, want)
	}
	out.Reset()
	objects := []Object{
		{"name": "a", "messages": json.Number("1234"), "policy": nil, "note": "7"},
		{"name": "bc", "messages": json.Number("5"), "policy": "lazy", "note": json.Number("8")},
	}
	const wanted = "" +
		"NAME  READY  POLICY  NOTE\n" +
		"a     1,234          7\n" +
		"bc        5  lazy    8\n"
	err = PrintTable(&out, []string{"name", "ready", "policy", "note"}, map[string]string{"ready": "messages"}, objects)
	if err != nil || out.String() != wanted {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, wanted)
	}
}
