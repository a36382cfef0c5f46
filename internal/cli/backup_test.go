package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiveways/internal/cli/exitcode"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A copy taken while messages are published can be started, and has all that was confirmed before.
func TestBackup(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip("no tar here")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "b.tar")
	p := startProcess(t, dir)
	ch := p.channel()
	if _, err := ch.QueueDeclare("orders", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	publish := func(n int) {
		var last *amqp.DeferredConfirmation
		for i := range n {
			var err error
			last, err = ch.PublishWithDeferredConfirm("", "orders", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: fmt.Append(nil, i)})
			if err != nil {
				t.Error(err)
				return
			}
		}
		if !last.Wait() {
			t.Error("refused")
		}
	}
	publish(1000)
	more := make(chan struct{})
	go func() { publish(5000); close(more) }()
	if code, out := operateOn(t, dir, "", "backup", file); code != exitcode.OK || !strings.Contains(out, "bytes written") {
		t.Fatalf("exit code %d, %s", code, out)
	}
	<-more
	if code, out := operateOn(t, dir, "", "backup", file); code != exitcode.Failure || !strings.Contains(out, "exists") {
		t.Errorf("over a file that is there: exit code %d, %s", code, out)
	}
	p.signal(syscall.SIGKILL)
	p.wait()
	if code, out := operateOn(t, dir, "", "backup", file+"2"); code != exitcode.Failure || !strings.Contains(out, "no broker runs") {
		t.Errorf("of a folder at rest: exit code %d, %s", code, out)
	}

	restored := t.TempDir()
	if out, err := exec.Command("tar", "-xf", file, "-C", restored).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if out, errs, code := command(t, "doctor", restored); code != exitcode.OK || !strings.Contains(out, "orders") {
		t.Errorf("doctor: exit code %d, %s%s", code, out, errs)
	}
	q, err := startProcess(t, restored).channel().QueueDeclarePassive("orders", true, false, false, false, nil)
	if err != nil || q.Messages < 1000 || q.Messages > 6000 {
		t.Errorf("%+v, %v", q, err)
	}
}
