package respwire

import (
	"math"
	"testing"
)

func TestWriter(t *testing.T) {
	for _, tc := range []struct {
		write      func(*Writer)
		two, three string
	}{
		{func(w *Writer) { w.OK() }, "+OK\r\n", "+OK\r\n"},
		{func(w *Writer) { w.Simple("PONG") }, "+PONG\r\n", "+PONG\r\n"},
		{func(w *Writer) { w.Error("ERR a\r\nb") }, "-ERR a  b\r\n", "-ERR a  b\r\n"},
		{func(w *Writer) { w.Int(-12) }, ":-12\r\n", ":-12\r\n"},
		{func(w *Writer) { w.Int(7) }, ":7\r\n", ":7\r\n"},
		{func(w *Writer) { w.Bulk([]byte("a\r\n")) }, "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"},
		{func(w *Writer) { w.BulkString("") }, "$0\r\n\r\n", "$0\r\n\r\n"},
		{func(w *Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
		{func(w *Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
		{func(w *Writer) { w.Array(12) }, "*12\r\n", "*12\r\n"},
		{func(w *Writer) { w.Map(2) }, "*4\r\n", "%2\r\n"},
		{func(w *Writer) { w.Set(2) }, "*2\r\n", "~2\r\n"},
		{func(w *Writer) { w.Push(2) }, "*2\r\n", ">2\r\n"},
		{func(w *Writer) { w.Bool(true) }, ":1\r\n", "#t\r\n"},
		{func(w *Writer) { w.Bool(false) }, ":0\r\n", "#f\r\n"},
		{func(w *Writer) { w.Double(1.5) }, "$3\r\n1.5\r\n", ",1.5\r\n"},
		{func(w *Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
		{func(w *Writer) { w.Double(math.Inf(1)) }, "$3\r\ninf\r\n", ",inf\r\n"},
		{func(w *Writer) { w.Double(math.NaN()) }, "$3\r\nnan\r\n", ",nan\r\n"},
		{func(w *Writer) { w.Verbatim("a") }, "$1\r\na\r\n", "=5\r\ntxt:a\r\n"},
	} {
		two, three := Writer{}, Writer{RESP3: true}
		tc.write(&two)
		tc.write(&three)
		if string(two.Buf) != tc.two || string(three.Buf) != tc.three {
			t.Errorf("%q and %q, want %q and %q", two.Buf, three.Buf, tc.two, tc.three)
		}
	}
}
