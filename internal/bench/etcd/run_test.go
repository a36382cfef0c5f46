package etcd

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/test/etcdd"
)

func TestRunOnPlainKeys(t *testing.T) {
	o := DefaultOptions()
	o.URL, o.Loads, o.Keys, o.Producers, o.Consumers, o.InFlight = etcdd.Start(t), LoadNames(), 500, 3, 2, 2
	o.Duration = 300 * time.Millisecond
	told := 0
	r, err := Run(t.Context(), o, func(Load) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	if told != len(LoadNames()) || len(r.Loads) != told || !strings.HasPrefix(r.Server, "etcd API 3") {
		t.Errorf("%d loads told, %+v", told, r)
	}
	for _, l := range r.Loads {
		if l.Count == 0 || l.PerSecond <= 0 || l.P50 <= 0 || l.P99 < l.P50 || l.ServerCPU != -1 {
			t.Errorf("%+v", l)
		}
		if l.Name == "queue" && (l.Least == 0 || l.Fairness() <= 0 || l.Least+l.Most != l.Count) {
			t.Errorf("%+v", l)
		}
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || strings.Count(text.String(), "\n") != 3+told {
		t.Errorf("%v, %s", err, text.String())
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{o.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if left, err := c.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly()); err != nil || left.Count > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOptions(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.URL = "" }, func(o *Options) { o.Loads = nil }, func(o *Options) { o.Loads = []string{"drink"} },
		func(o *Options) { o.Producers = 0 }, func(o *Options) { o.Size = 7 }, func(o *Options) { o.Duration = 0 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Run(t.Context(), o, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
