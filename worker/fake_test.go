package worker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/worker"
)

// fake starts a server that answers commands with reply, and returns its address. The commands of a
// connection are answered in order.
func fake(t *testing.T, reply func(args []string) string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				for in := bufio.NewReader(nc); ; {
					args, err := readCommand(in)
					if err != nil {
						return
					}
					io.WriteString(nc, reply(args))
				}
			}()
		}
	}()
	return "redis://u:p@" + l.Addr().String()
}

// readCommand reads a command: an array of bulk strings.
func readCommand(in *bufio.Reader) (args []string, err error) {
	var n, size int
	if _, err := fmt.Fscanf(in, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	for range n {
		if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		if _, err := io.ReadFull(in, arg); err != nil {
			return nil, err
		}
		args = append(args, string(arg[:size]))
	}
	return args, nil
}

const (
	ok     = "+OK\r\n"
	none   = "*-1\r\n"
	oneJob = "*1\r\n*12\r\n$5\r\nqueue\r\n$1\r\nq\r\n$3\r\nmid\r\n$1\r\nm\r\n$4\r\nbody\r\n$1\r\nb\r\n" +
		"$7\r\nattempt\r\n:3\r\n$5\r\ntoken\r\n$3\r\n7-9\r\n$4\r\nlock\r\n:1500\r\n"
)

// hello answers the commands that a client sends on connecting. ok is false for other commands.
func hello(args []string) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		return "-ERR unknown command 'HELLO'\r\n", true
	case "AUTH", "SELECT":
		return "+OK\r\n", true
	case "CLIENT":
		if strings.EqualFold(args[1], "ID") {
			return ":42\r\n", true
		}
	}
	return "", false
}

// TestJobOfAnAbandonedTake checks that a broker that does not end the wait of a take delays other
// calls only briefly, and that a job that it delivers late is given back.
func TestJobOfAnAbandonedTake(t *testing.T) {
	release, back, unblocks := make(chan struct{}), make(chan []string, 1), atomic.Int64{}
	c := dial(t, fake(t, func(args []string) string {
		if reply, ok := hello(args); ok {
			return reply
		}
		switch args[0] {
		case "JOB.TAKE":
			<-release
			return oneJob
		case "JOB.RETRY":
			back <- args
			return ok
		}
		unblocks.Add(1)
		return "-ERR unknown subcommand\r\n"
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := time.AfterFunc(50*time.Millisecond, cancel)
	defer cancelled.Stop()
	begun := time.Now()
	jobs, err := c.Take(ctx, worker.TakeOptions{Queues: []string{"q"}, Wait: time.Hour})
	if !errors.Is(err, context.Canceled) || len(jobs) > 0 || time.Since(begun) > 20*time.Second || unblocks.Load() == 0 {
		t.Errorf("took %+v, %v after %v, with %d tries to end the wait", jobs, err, time.Since(begun), unblocks.Load())
	}
	close(release)
	if got, want := <-back, []string{"JOB.RETRY", "q", "m", "7-9"}; !slices.Equal(got, want) {
		t.Errorf("the broker was told %q, want %q", got, want)
	}
}

// TestLongWait checks that a long wait is split, and that it returns the result of the last part.
func TestLongWait(t *testing.T) {
	var takes [][]string
	c := dial(t, fake(t, func(args []string) string {
		if reply, ok := hello(args); ok {
			return reply
		}
		if takes = append(takes, args); len(takes) < 3 {
			return none
		}
		return oneJob
	}))
	jobs, err := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"q", "r"}, Count: 2, Lock: time.Minute, Wait: time.Hour})
	want := worker.Job{Lease: worker.Lease{Queue: "q", MID: "m", Token: "7-9"}, Body: []byte("b"), Attempt: 3, Lock: 1500 * time.Millisecond}
	if err != nil || len(jobs) != 1 || fmt.Sprint(jobs[0]) != fmt.Sprint(want) {
		t.Errorf("took %+v, %v; want %+v", jobs, err, want)
	}
	for _, got := range takes {
		if want := "JOB.TAKE q r COUNT 2 LOCK 60000 BLOCK 20000"; strings.Join(got, " ") != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}

// TestWhatIsAsked checks the command that is sent for every option.
func TestWhatIsAsked(t *testing.T) {
	asked := make(chan []string, 1)
	c := dial(t, fake(t, func(args []string) string {
		if reply, ok := hello(args); ok {
			return reply
		}
		asked <- args
		if args[0] == "JOB.ENQUEUE" {
			return "*2\r\n$5\r\nadded\r\n$1\r\nm\r\n"
		}
		return ok
	}))
	l := worker.Lease{Queue: "q", MID: "m", Token: "1-2"}
	ctx := t.Context()
	for want, ask := range map[string]func() error{
		"JOB.ENQUEUE q b": func() error { _, err := c.Enqueue(ctx, "q", []byte("b"), worker.EnqueueOptions{}); return err },
		"JOB.ENQUEUE q b ID m BACKOFF 1 LOCK 60000 UPDATE REQUEUE RESETBACKOFF PRIORITY 3 EXPIRE 2000 HEADERS k v": func() error {
			_, err := c.Enqueue(ctx, "q", []byte("b"), worker.EnqueueOptions{
				MID: "m", Backoff: time.Microsecond, Lock: time.Minute, Update: true, Requeue: true, ResetDelay: true, Priority: 3,
				Expire: 2 * time.Second, Headers: map[string]string{"k": "v"},
			})
			return err
		},
		"JOB.DONE q m 1-2":                         func() error { return c.Done(ctx, l, 0) },
		"JOB.DONE q m 1-2 BACKOFF 5000":            func() error { return c.Done(ctx, l, 5*time.Second) },
		"JOB.RETRY q m 1-2":                        func() error { return c.Retry(ctx, l, 0, "") },
		"JOB.RETRY q m 1-2 BACKOFF 5000 ERROR why": func() error { return c.Retry(ctx, l, 5*time.Second, "why") },
		"JOB.FAIL q m 1-2 ERROR why":               func() error { return c.Fail(ctx, l, "why") },
		"JOB.EXTEND q m 1-2 5000":                  func() error { return c.Extend(ctx, l, 5*time.Second) },
		"QUEUE.CLEAR q r":                          func() error { return c.Clear(ctx, "q", "r") },
		"QUEUE.STATUS q":                           func() error { _, err := c.QueueStatus(ctx, "q"); return err },
		"JOB.STATUS q m DETAIL":                    func() error { _, err := c.Status(ctx, "q", "m"); return err },
		"JOB.TAKE q COUNT 1":                       func() error { _, err := c.Take(ctx, worker.TakeOptions{Queues: []string{"q"}}); return err },
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if got := strings.Join(<-asked, " "); got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}
