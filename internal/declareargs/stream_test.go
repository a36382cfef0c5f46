package declareargs

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

func TestStreamReads(t *testing.T) {
	spec := catalog.QueueSpec{Durable: true, Args: message.Table{
		{Name: "x-queue-type", Value: "stream"}, {Name: "x-max-age", Value: "7D"}, {Name: "x-max-length-bytes", Value: int64(1000)},
		{Name: "x-stream-max-segment-size-bytes", Value: int64(500)}, {Name: "x-initial-cluster-size", Value: int32(3)},
		{Name: "x-queue-leader-locator", Value: "balanced"}, {Name: "x-sync", Value: "always"},
	}}
	if refused := Declare(&spec); refused != nil {
		t.Fatal(refused.Text(resource))
	}
	want := catalog.DefaultQueuePolicy()
	want.Stream, want.MaxAge, want.MaxLengthBytes, want.Sync = true, 7*24*3600*1000, 1000, catalog.SyncAlways
	if spec.Policy != want {
		t.Errorf("got %+v, want %+v", spec.Policy, want)
	}
	if spec.Compared[0] != "x-queue-type" {
		t.Errorf("compared are %v", spec.Compared)
	}
}

// The refusals with RabbitMQ's texts are in test/oracle/testdata/streams.txt. These are of our own
// arguments.
func TestStreamRefuses(t *testing.T) {
	for _, name := range []string{"x-group-header", "x-consume-after", "x-message-deduplication", "x-delayed-retry-type"} {
		_, refused := Queue(message.Table{{Name: "x-queue-type", Value: "stream"}, {Name: name, Value: "a"}})
		wantRefused(t, refused, "invalid arg '"+name+"' for queue 'q' in vhost '/' of queue type rabbit_stream_queue")
	}
	spec := catalog.QueueSpec{Args: message.Table{{Name: "x-queue-type", Value: "stream"}}}
	wantRefused(t, Declare(&spec), "invalid property 'non-durable' for queue 'q' in vhost '/'")
}

func TestAge(t *testing.T) {
	for s, want := range map[string]int64{
		"1s": 1000, "2m": 120_000, "3h": 10_800_000, "4D": 345_600_000, "1M": 2_592_000_000, "1Y": 31_536_000_000, "007s": 7000,
		"": 0, "s": 0, "0s": 0, "5": 0, "1w": 0, "1 h": 0, "+1s": 0, "-1s": 0, "1.5h": 0, "1hm": 0, "1sh": 0,
	} {
		if got, ok := Age(s); got != want || ok != (want > 0) {
			t.Errorf("%q is %d, %v, want %d", s, got, ok, want)
		}
	}
	if ms, ok := Age("99999999999999999999Y"); !ok || ms > maxTimer || ms < maxTimer/2 {
		t.Errorf("a very long age is %d, %v", ms, ok)
	}
}
