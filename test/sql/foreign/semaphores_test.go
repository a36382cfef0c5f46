package foreign

import "testing"

// TestSemaphores uses the tables of semaphores as foreign tables: it reads them, joins them with
// local ones, and writes where permitted.
func TestSemaphores(t *testing.T) {
	p := setUp(t, "")
	run(t, p.local, "create schema markup", "create type markup.semaphore_status as enum ('WAIT', 'ACQUIRED', 'TRY_RELEASE')",
		"import foreign schema markup from server fiveways into markup",
		// The foreign table has only the columns that can be inserted, since PostgreSQL sends all
		// columns of a foreign table.
		"create foreign table new_semaphore (key text, active int, try_release int) server fiveways options (schema_name 'markup', table_name 'semaphore')",
		"create table task (id bigint, name text)", "insert into task values (1, 'cat'), (2, 'dog'), (3, 'owl')",
		"insert into new_semaphore values ('crowd', 2, 1)")
	run(t, p.remote, "select semaphore.enqueue('crowd', i, i) from generate_series(1, 3) i", "select semaphore.get_or_create('other')",
		"select semaphore.enqueue('other', 1, 1)")
	want(t, p.local, "select key || active || try_release from markup.semaphore order by id", "crowd21 other1000900")
	want(t, p.local, `select k.name || ' ' || t.status from markup.semaphore s join markup.semaphore_task t on t.semaphore_id = s.id join task k on k.id = t.task_id
		where s.key = 'crowd' order by t.priority desc`, "owl ACQUIRED dog ACQUIRED cat WAIT")
	want(t, p.local, "select t.task from markup.semaphore_task t where t.status = 'WAIT' and t.priority < 2.5", "1")
	want(t, p.local, "select count(*)::text from markup.semaphore_task where enqueued > now() - interval '1 hour'", "4")

	run(t, p.local, "begin", "update markup.semaphore set active = 3 where key = 'crowd'", "rollback")
	want(t, p.remote, "select semaphore.status('crowd', 1)::text", "WAIT")
	run(t, p.local, "update markup.semaphore set active = 3 where key = 'crowd'")
	want(t, p.remote, "select semaphore.status('crowd', 1)::text", "ACQUIRED")
}
