package amqp

import (
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

func encoded(fields ...message.Field) []byte { return message.AppendTable(nil, fields)[4:] }

func TestNotBeforeHeader(t *testing.T) {
	for _, k := range []struct {
		v    any
		want int64
		bad  string
	}{
		{v: message.Timestamp(1_700_000_000), want: 1_700_000_000_000},
		{v: message.Timestamp(1 << 63), want: declareargs.LatestTime / 1000 * 1000},
		{v: int64(1_700_000_000_123), want: 1_700_000_000_123},
		{v: int32(7), want: 7},
		{v: int64(1<<63 - 1), want: declareargs.LatestTime},
		{v: "2023-11-14T22:13:20.5Z", want: 1_700_000_000_500},
		{v: "2023-11-14T23:13:20+01:00", want: 1_700_000_000_000},
		{v: "1900-01-01T00:00:00Z", want: 0},
		{v: "tomorrow", bad: "'tomorrow' is not a time of RFC 3339"},
		{v: int16(-1), bad: "-1 is negative"},
		{v: true, bad: "unacceptable type bool"},
		{v: nil, bad: "unacceptable type void"},
	} {
		got, err := notBefore(encoded(message.Field{Name: "not-before", Value: k.v}))
		if k.bad != "" {
			if err == nil || !strings.HasSuffix(err.Error(), "invalid 'not-before' header: "+k.bad) {
				t.Errorf("%v: %v", k.v, err)
			}
			continue
		}
		if err != nil || got != k.want {
			t.Errorf("%v: %d, %v; want %d", k.v, got, err, k.want)
		}
	}
	if got, _ := notBefore(encoded(message.Field{Name: "not-before", Value: "9999-12-31T23:59:59Z"})); got < time.Now().UnixMilli() {
		t.Errorf("far away is %d", got)
	}
}

func TestMarks(t *testing.T) {
	for want, name := range map[marks]string{0: "Cc", markKeys: "CC", markNotBefore: "not-before"} {
		table := message.Table{{Name: "first", Value: "CC"}, {Name: "nested", Value: message.Table{{Name: "BCC", Value: "x"}}}, {Name: name, Value: "x"}}
		if got := readMarks(message.AppendTable(nil, table)[4:]); got != want {
			t.Errorf("%s: %b", name, got)
		}
	}
	both := encoded(message.Field{Name: "BCC", Value: message.Array{}}, message.Field{Name: "not-before", Value: int64(1)})
	if got := readMarks(both); got != markKeys|markNotBefore {
		t.Errorf("both: %b", got)
	}
	if got := readMarks([]byte{3, 'x'}); got != 0 {
		t.Errorf("a torn table: %b", got)
	}
}

// BenchmarkMarks measures what every message with headers costs.
func BenchmarkMarks(b *testing.B) {
	headers := encoded(message.Field{Name: "tenant", Value: "eu-1"}, message.Field{Name: "attempt", Value: int32(3)},
		message.Field{Name: "traceparent", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
	b.ReportAllocs()
	for b.Loop() {
		if readMarks(headers) != 0 {
			b.Fatal("found")
		}
	}
}
