package display

import (
	"encoding/json"
	"testing"
	"time"
)

func TestAmount(t *testing.T) {
	for _, c := range []struct{ path, number, want string }{
		{"messages_ready", "0", "0"}, {"messages_ready", "999", "999"}, {"messages_ready", "1234567", "1,234,567"}, {"messages", "-1000", "-1,000"},
		{"messages_unacknowledged", "12345678901234567890", "12,345,678,901,234,567,890"}, {"consumer_utilisation", "0.25", "0.25"},
		{"memory", "1023", "1023 B"}, {"mem_used", "1024", "1 KiB"}, {"mem_used", "62775296", "59.9 MiB"}, {"disk_free", "22000357376", "20.5 GiB"}, {"message_bytes_ready", "1023410176", "976 MiB"},
		{"message_bytes", "1073217536", "1 GiB"}, {"message_bytes", "9223372036854775807", "8 EiB"},
		{"message_stats.publish_details.rate", "1234.5", "1,234/s"}, {"message_stats.publish_details.rate", "0.25", "0.2/s"}, {"messages_details.rate", "-12.7", "-13/s"}, {"recv_oct_details.rate", "2048", "2 KiB/s"},
		{"uptime", "18949", "19s"}, {"connected_at", "1795865018529", "2026-11-28T11:23:38Z"},
		{"port", "15672", "15672"}, {"arguments.x-max-length", "100000", "100000"}, {"definition.max-length-bytes", "100000", "100000"}, {"id", "1000", "1000"},
	} {
		if got := Amount(c.path, json.Number(c.number)); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.path, c.number, got, c.want)
		}
	}
	if got := Amount("memory", nil) + Amount("durable", true); got != "yes" {
		t.Errorf("what is no number is shown as %q", got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1204 * time.Millisecond: "1.204s", 42 * time.Second: "42s", 312 * time.Second: "5m12s", 3*time.Hour + 4*time.Minute + 5*time.Second: "3h4m", 293 * time.Hour: "12d5h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
}

func TestMeterLine(t *testing.T) {
	m := NewMeter(nil, Bytes)
	m.Set(0, 0)
	m.Set(50<<20, 0)
	for _, c := range []struct {
		whole int64
		took  time.Duration
		want  string
	}{
		{0, 0, "50 MiB"}, {0, 5 * time.Second, "50 MiB, 10 MiB/s"},
		{100 << 20, 0, "[###############               ]  50 %  50 MiB of 100 MiB"},
		{10 << 20, 0, "[##############################] 100 %  50 MiB of 10 MiB"},
	} {
		if got := m.line(c.whole, c.took); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if m.Shows() {
		t.Error("a meter shows itself where there is no terminal")
	}
}
