package drivers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestSemaphores checks that drivers read and write the data of task semaphores, including the type
// of the status.
func TestSemaphores(t *testing.T) {
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--sql", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(b.Kill)
	s := target{name: "fiveways", url: "postgres://guest@" + b.SQLAddr() + "/fiveways"}
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run("pgx "+mode.String(), func(t *testing.T) { pgxSemaphore(t, pgxConnect(t, s, mode), "with_pgx_"+fmt.Sprint(int(mode))) })
	}
	t.Run("psql", func(t *testing.T) { psqlSemaphores(t, s) })
}

// pgxSemaphore enqueues and releases with parameters of Go types, singly and in a batch, and reads
// rows of the tables.
func pgxSemaphore(t *testing.T, c *pgx.Conn, key string) {
	ctx := t.Context()
	for _, name := range []string{"markup.semaphore_status", "markup._semaphore_status"} {
		made, err := c.LoadType(ctx, name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.TypeMap().RegisterType(made)
	}
	var id int
	must(t, c.QueryRow(ctx, "insert into markup.semaphore (key, active, try_release) values ($1, $2, $3) returning id", key, 1, 1).Scan(&id))
	_, err := c.Exec(ctx, "insert into markup.semaphore (key) values ($1)", key)
	wantState(t, err, "23505")
	enqueue := func(task any, priority float64, want string) {
		t.Helper()
		var got string
		if err := c.QueryRow(ctx, "select semaphore.enqueue($1, $2, $3)", key, task, priority).Scan(&got); err != nil || got != want {
			t.Errorf("task %v is %q, want %q, %v", task, got, want, err)
		}
	}
	enqueue(1, 5.5, "ACQUIRED")
	enqueue(int64(1)<<40, 3, "WAIT")
	var all []string
	err = c.QueryRow(ctx, "select array_agg(status order by position) from markup.semaphore_task where semaphore_id = $1", id).Scan(&all)
	if err != nil || fmt.Sprint(all) != "[ACQUIRED WAIT]" {
		t.Errorf("statuses %v, %v", all, err)
	}
	var released bool
	if err := c.QueryRow(ctx, "select semaphore.release($1, $2)", key, 1).Scan(&released); err != nil || !released {
		t.Errorf("released %v, %v", released, err)
	}
	var batch pgx.Batch
	batch.Queue("select semaphore.enqueue($1, $2, $3)", key, 7, 7.0)
	batch.Queue("select semaphore.status($1, $2)", key, 7)
	results := c.SendBatch(ctx, &batch)
	var status *string
	if err := results.QueryRow().Scan(&status); err != nil || status == nil || *status != "WAIT" {
		t.Errorf("enqueued in a batch: %v, %v", status, err)
	}
	if err := results.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Exec(ctx, "select semaphore.enqueue('nowhere', 1, 1)"); err != nil {
		wantState(t, err, "P0002")
	} else {
		t.Error("a task was enqueued nowhere")
	}
}

// psqlSemaphores checks psql's listings.
func psqlSemaphores(t *testing.T, s target) {
	need(t, "psql")
	for command, want := range map[string]string{
		`\d markup.semaphore_task`: "status|markup.semaphore_status",
		`\d markup.semaphore`:      "try_release|integer",
		`\dT+ markup.*`:            "TRY_RELEASE",
		`\df semaphore.status`:     "semaphore|status|markup.semaphore_status|key text, task bigint|func",
		`\dv markup.*`:             "markup|semaphore|view",
	} {
		if got := run(t, s, []string{"PAGER=cat", "PSQLRC=/dev/null"}, "psql", s.url, "-XAtq", "-c", command); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in\n%s", command, want, got)
		}
	}
}
