package cli

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestShovel(t *testing.T) {
	from, to := startProcess(t, t.TempDir()), startProcess(t, t.TempDir())
	ch := from.channel()
	if _, err := ch.QueueDeclare("a", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		must(t, ch.Publish("", "a", false, false, amqp.Publishing{Body: []byte("x")}))
	}
	if out, errs, code := command(t, "shovel", "--from", from.url, "--from-queue", "a", "--to", to.url, "--to-queue", "b", "--once"); code != exitcode.OK || out != "10 messages moved\n" {
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
		"a password":    {[]string{"--from", "amqp://u:secret@h", "--from-queue", "a", "--to-queue", "b"}, exitcode.WrongUsage, "no password in --from"},
		"no source":     {[]string{"--to-queue", "b"}, exitcode.WrongUsage, "--from-queue"},
		"two targets":   {[]string{"--from-queue", "a", "--to-queue", "b", "--to-exchange", "c"}, exitcode.WrongUsage, "--to-exchange"},
		"itself":        {[]string{"--from", from.url, "--to", from.url, "--from-queue", "a", "--to-queue", "a"}, exitcode.WrongUsage, "same queue"},
		"no such queue": {[]string{"--from", from.url, "--to", to.url, "--from-queue", "none", "--to-queue", "b"}, exitcode.Failure, "no queue 'none'"},
		"no URI":        {[]string{"--from", "http://x", "--from-queue", "a", "--to-queue", "b"}, exitcode.WrongUsage, "amqp://"},
	} {
		if _, errs, code := command(t, append([]string{"shovel"}, tc.args...)...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: exit code %d, %s", name, code, errs)
		}
	}
}
