package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestBackup checks that a backup taken while messages are published can be started, and has
// everything that was confirmed before.
func TestBackup(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "b.tar")
	p := startProcess(t, dir)
	ch := p.channel()
	if _, err := ch.QueueDeclare("orders", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	must(t, ch.Confirm(false))
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
	if code, out := operateOn(t, dir, "", "backup", file); code != exitcode.OK || !strings.Contains(out, " written to ") {
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

	restored := filepath.Join(t.TempDir(), "restored")
	if out, errs, code := command(t, "restore", file, restored); code != exitcode.OK || !strings.Contains(out, " restored to ") {
		t.Fatalf("restore: exit code %d, %s%s", code, out, errs)
	}
	if _, errs, code := command(t, "restore", file, restored); code != exitcode.WrongUsage || !strings.Contains(errs, "another folder") {
		t.Errorf("over data: exit code %d, %s", code, errs)
	}
	whole, err := os.ReadFile(file)
	must(t, err)
	for _, size := range []int{0, 100, len(whole) / 2, len(whole) - 1024, len(whole) - 1} {
		part, into := filepath.Join(t.TempDir(), "part.tar"), t.TempDir()
		must(t, os.WriteFile(part, whole[:size], 0o600))
		if _, errs, code := command(t, "restore", part, into); code != exitcode.Failure || !strings.Contains(errs, "not a complete backup") {
			t.Errorf("the first %d bytes: exit code %d, %s", size, code, errs)
		}
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

// TestBackupWithoutSpace checks that a backup that does not fit on the disk leaves no file, and
// that such a restore leaves nothing that counts as data.
func TestBackupWithoutSpace(t *testing.T) {
	sh := newShell(t)
	if out, err := sh.run(`set -e
fiveways queue add orders
fiveways message publish orders "$(head -c 60000 /dev/zero | tr '\0' x)"
fiveways backup there.tar`); err != nil {
		t.Fatal(err, out)
	}
	const full = "ulimit -f 16; "
	if out, err := sh.run(full + "fiveways backup big.tar"); err == nil || !strings.Contains(out, "backup: write big.tar: file too large") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := sh.run("test ! -e big.tar"); err != nil {
		t.Errorf("a part of it is left: %s", out)
	}
	if out, err := sh.run(full + "fiveways restore there.tar new"); err == nil || !strings.Contains(out, "file too large") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := sh.run("fiveways restore there.tar new && fiveways doctor new"); err != nil || !strings.Contains(out, "1 persistent messages") {
		t.Errorf("%v %s", err, out)
	}
}
