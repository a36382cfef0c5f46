package conformance

import (
	"strings"
	"testing"
)

// origins has queries and the columns of relations that the columns of their results are, as
// drivers and tools show them and use them for updates. "-" is none.
var origins = []struct{ query, want string }{
	{"select relname, c.oid, relname as other, relname || '', 1 from pg_class c", "pg_class.relname pg_class.oid pg_class.relname - -"},
	{"select * from pg_namespace limit 0", "pg_namespace.oid pg_namespace.nspname pg_namespace.nspowner pg_namespace.nspacl"},
	{"select s.a, s.b from (select nspname as a, upper(nspname) as b from pg_namespace) s", "pg_namespace.nspname -"},
	{"with w as (select typname from pg_type), v as (select * from w) select typname from v", "pg_type.typname"},
	{"with recursive w as (select typname from pg_type union all select typname from w where false) select typname from w", "-"},
	{"select nspname from pg_namespace union all select relname from pg_class", "-"},
	{"select distinct nspname from pg_namespace", "pg_namespace.nspname"},
	{"select relkind, count(*), max(relname) from pg_class group by relkind", "pg_class.relkind - -"},
	{"select relname, nspname from pg_class join pg_namespace n on n.oid = relnamespace order by 1", "pg_class.relname pg_namespace.nspname"},
	{"select oid, a.oid, b.oid from pg_class a left join pg_namespace b using (oid)", "pg_class.oid pg_class.oid pg_namespace.oid"},
	{"select oid from pg_class right join pg_namespace using (oid)", "pg_namespace.oid"},
	{"select oid from pg_class full join pg_namespace using (oid)", "-"},
	{"select (select nspname from pg_namespace limit 1)", "-"},
	{"select s.relname from pg_class c, lateral (select c.relname) s", "pg_class.relname"},
	{"select n from generate_series(1, 2) n", "-"},
	{"select x from (values (1)) v(x)", "-"},
	{"select relname::text, relname::name, relhasindex::bool from pg_class", "- pg_class.relname pg_class.relhasindex"},
	{"insert into orders_q (data) values ('n=>7') returning data, data -> 'n'", "orders_q.data -"},
	{"show server_version", "-"},
}

// TestOrigins compares them with PostgreSQL's.
func TestOrigins(t *testing.T) {
	ours, theirs := servers(t)
	for name, dsn := range map[string]string{"PostgreSQL": theirs, "Fiveways": ours} {
		conn := connect(t, dsn)
		run(t, conn, "select mbus4.create_queue('orders', 8)")
		run(t, conn, "select mbus4.create_view('orders')")
		for _, o := range origins {
			described, err := conn.Prepare(t.Context(), "", o.query)
			if err != nil {
				t.Errorf("%s: %s: %v", name, o.query, err)
				continue
			}
			var got []string
			for _, f := range described.Fields {
				origin := "-"
				if f.TableOID != 0 {
					must(t, conn.QueryRow(t.Context(), "select relname || '.' || attname from pg_class c join pg_attribute a on attrelid = c.oid"+
						" where c.oid = $1 and attnum = $2", f.TableOID, f.TableAttributeNumber).Scan(&origin))
				}
				got = append(got, origin)
			}
			if got := strings.Join(got, " "); got != o.want {
				t.Errorf("%s: %s\n\tgot  %s\n\twant %s", name, o.query, got, o.want)
			}
		}
	}
}
