package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways/internal/shovel"
)

func TestShovel(t *testing.T) {
	from, to := startProcess(t, t.TempDir()), startProcess(t, t.TempDir())
	ch := from.channel()
	if _, err := ch.QueueDeclare("a", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := ch.Publish("", "a", false, false, amqp.Publishing{Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, code := command(t, "shovel", "--from", from.url, "--from-queue", "a", "--to", to.url, "--to-queue", "b", "--once"); code != exitOK || out != "10 messages moved\n" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if q, err := to.channel().QueueDeclarePassive("b", true, false, false, false, nil); err != nil || q.Messages != 10 {
		t.Errorf("%+v, %v", q, err)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a password":    {[]string{"--from", "amqp://u:secret@h", "--from-queue", "a", "--to-queue", "b"}, exitUsage, "no password in --from"},
		"no source":     {[]string{"--to-queue", "b"}, exitUsage, "--from-queue"},
		"two targets":   {[]string{"--from-queue", "a", "--to-queue", "b", "--to-exchange", "c"}, exitUsage, "--to-exchange"},
		"itself":        {[]string{"--from", from.url, "--to", from.url, "--from-queue", "a", "--to-queue", "a"}, exitUsage, "same queue"},
		"no such queue": {[]string{"--from", from.url, "--to", to.url, "--from-queue", "none", "--to-queue", "b"}, exitFailure, "no queue 'none'"},
		"no URI":        {[]string{"--from", "http://x", "--from-queue", "a", "--to-queue", "b"}, exitUsage, "amqp://"},
	} {
		if _, errs, code := command(t, append([]string{"shovel"}, tc.args...)...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: exit code %d, %s", name, code, errs)
		}
	}
}

func TestShovelProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	tell := shovelProgress(&out, func() time.Time { return now })
	tell(shovel.Progress{Moved: 10})
	now = now.Add(10 * time.Second)
	tell(shovel.Progress{Moved: 1000})
	tell(shovel.Progress{Moved: 1000, Breaks: 1, Err: errors.New("gone")})
	if want := "     1000 moved, 100/s\n     1000 moved; gone; trying again\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
