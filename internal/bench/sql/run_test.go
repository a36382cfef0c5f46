package sql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/postgres"
)

func quick(dsn string) Options {
	o := DefaultOptions()
	o.URL, o.Clients, o.Backlog, o.Amount, o.Duration = dsn, 2, 250, 100, 300*time.Millisecond
	return o
}

func TestLoadsOfANativeSchema(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{})
	if _, err := sqlschema.Install(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	var told []string
	r, err := Run(t.Context(), quick(dsn), func(l Load) { told = append(told, l.Name) })
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(told, " ") != strings.Join(LoadNames(), " ") {
		t.Errorf("told of %q", told)
	}
	for _, l := range r.Loads {
		if l.Operations.Count == 0 || l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 {
			t.Errorf("%+v", l)
		}
		// Loads that take get at most what was posted, and stop when they have got all of it.
		if l.Name == "consumen" && (l.Messages.Count != 250 || l.Seconds > 0.3) || l.Name == "consume" && l.Messages.Count > 250 {
			t.Errorf("%+v", l)
		}
	}
	queues := 0
	k, err := connect(t.Context(), quick(dsn), map[string]string{"queues": "select 1 from mbus4.queue where qname like 'bench%'"})
	if err == nil {
		defer k.close()
		queues, err = k.run("queues")
	}
	if err != nil || queues != 0 {
		t.Errorf("%d queues are left, %v", queues, err)
	}
}

func TestInterruptedRunDropsItsQueue(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{})
	if _, err := sqlschema.Install(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	o := quick(dsn)
	o.Loads, o.Duration = []string{"post"}, time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, o, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	k, err := connect(t.Context(), o, map[string]string{"queues": "select 1 from mbus4.queue where qname like 'bench%'"})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if n, err := k.run("queues"); err != nil || n != 0 {
		t.Errorf("%d queues are left, %v", n, err)
	}
}

func TestInvalidOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"clients is 0":             func(o *Options) { o.Clients = 0 },
		`there is no load "drink"`: func(o *Options) { o.Loads = []string{"drink"} },
		"no load is named":         func(o *Options) { o.Loads = nil },
		"cannot parse":             func(o *Options) { o.URL = "postgres://%zz" },
		"amount is 0":              func(o *Options) { o.Amount = 0 },
		"backlog is 0":             func(o *Options) { o.Backlog = 0 },
		"duration is 0s":           func(o *Options) { o.Duration = 0 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Run(t.Context(), o, nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestResultKeepsNoPassword(t *testing.T) {
	for _, dsn := range []string{"postgres://me:secret@h/d", "host=h password=secret"} {
		o := DefaultOptions()
		o.URL = dsn
		if r := newResult(o); strings.Contains(r.Options.URL, "secret") {
			t.Errorf("%s: %q", dsn, r.Options.URL)
		}
	}
}
