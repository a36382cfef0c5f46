package jobs

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The reason of a retry is kept with the message, also across restarts, until another report gives
// a new reason. The place, attempts and headers of the job do not change.
func TestLastError(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := jobClient{enginetest.NewClient(t, b), "q"}
	retry := func(text string) {
		t.Helper()
		j := c.takeOne(500)
		if string(j.ID) != "a" || string(j.Env.Body()) != "body" {
			t.Fatalf("took %+v", j)
		}
		r := &Report{OnQueue: enginetest.On("q"), ID: j.ID, Token: j.Token, Outcome: Retry, Error: []byte(text)}
		c.MustDo(r)
	}
	c.mustEnqueue("a", "body", nil)
	c.mustEnqueue("b", "next", nil)
	for i, step := range []struct{ text, want string }{
		{"", ""}, {"no route", "no route"}, {"", "no route"}, {"no route", "no route"}, {"busy", "busy"},
	} {
		retry(step.text)
		if s := c.status("a"); s.State != job.Queued || s.Error != step.want || s.Attempts != uint32(i+1) {
			t.Errorf("after %q: %+v", step.text, s)
		}
	}
	c.Close()
	enginetest.Close(t, b)

	b = openBroker(t, mem, nil)
	defer enginetest.Close(t, b)
	c = jobClient{enginetest.NewClient(t, b), "q"}
	if s := c.status("a"); s.Error != "busy" || s.Attempts != 5 {
		t.Errorf("after a restart: %+v", s)
	}
	retry(strings.Repeat("é", 1<<20))
	if n := len(c.status("a").Error); n > maxError || n < maxError-4 {
		t.Errorf("%d bytes are kept", n)
	}
	list := &Content{OnQueue: enginetest.On("q"), Max: 10}
	c.MustDo(list)
	if n := len(list.Jobs[0].Error); len(list.Jobs) != 2 || n > listedError || n < listedError-4 || list.Jobs[1].Error != "" {
		t.Errorf("listed: %d jobs, %d bytes of the first one's error", len(list.Jobs), n)
	}
}
