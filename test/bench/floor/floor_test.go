package floor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/bench/amqp"
	"fiveways.dev/fiveways/internal/bench/etcd"
	"fiveways.dev/fiveways/internal/bench/jobs"

	"github.com/jackc/pgx/v5"
)

// serve runs one null server and returns its address.
func serve(t *testing.T, protocol string) (address string) {
	t.Helper()
	d := openDisk(t, filepath.Join(t.TempDir(), "floor"))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := edges[protocol](d)
	served := make(chan error, 1)
	go func() { served <- e.Serve(ln) }()
	t.Cleanup(func() {
		killed, cancel := context.WithCancel(context.Background())
		cancel()
		e.Drain(killed) //nolint:errcheck // it must not wait
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

func openDisk(t *testing.T, path string) *Disk {
	t.Helper()
	d, err := OpenDisk(path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDiskHasAllThatWasKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "floor")
	d := openDisk(t, path)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := d.Keep(fmt.Appendf(nil, "<%d>", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if !bytes.Contains(b, fmt.Appendf(nil, "<%d>", i)) {
			t.Errorf("number %d is not there", i)
		}
	}
	if len(b) != diskBytes {
		t.Errorf("the file has %d bytes, want %d as before", len(b), diskBytes)
	}
}

func TestAMQP(t *testing.T) {
	o := amqp.DefaultOptions()
	o.URL, o.Count, o.Confirm, o.Persist = "amqp://guest:guest@"+serve(t, "amqp")+"/", 1000, 100, true
	r, err := amqp.Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Confirmed.Count != o.Count || r.Received.Count != o.Count {
		t.Errorf("%d confirmed and %d received, want %d", r.Confirmed.Count, r.Received.Count, o.Count)
	}
}

func TestRedis(t *testing.T) {
	o := jobs.DefaultOptions()
	o.Duration = 300 * time.Millisecond
	url := "redis://" + serve(t, "redis")
	for _, load := range []string{"cycle", "list", "wire"} {
		if r, err := jobs.Measure(t.Context(), o, url, load, 2, 3); err != nil || r.Jobs == 0 {
			t.Errorf("%s: %d done, %v", load, r.Jobs, err)
		}
	}
}

func TestSQL(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), "postgres://guest:guest@"+serve(t, "sql")+"/fiveways?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for statement, want := range map[string]int{
		"select mbus4.post('work', '')": 1, "select * from mbus4.consume('work')": 1, "select * from mbus4.consumen_work_by_default(100)": 100,
	} {
		rows, err := conn.Query(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for rows.Next() {
			got++
		}
		if err := rows.Err(); err != nil || got != want {
			t.Errorf("%s: %d rows, %v, want %d", statement, got, err, want)
		}
	}
}

func TestEtcd(t *testing.T) {
	o := etcd.DefaultOptions()
	o.URL, o.Duration, o.Loads = serve(t, "etcd"), 300*time.Millisecond, []string{"queue", "put"}
	r, err := etcd.Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Loads {
		if l.Count == 0 {
			t.Errorf("%s: nothing was done", l.Name)
		}
	}
}

func TestHTTP(t *testing.T) {
	answer, err := http.Post("http://"+serve(t, "http")+"/api/exchanges/%2F/amq.default/publish", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != `{"routed":true}` {
		t.Errorf("got %q, %v", text, err)
	}
}
