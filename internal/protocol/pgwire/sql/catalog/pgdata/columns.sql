select n.nspname || '.' || c.relname, c.oid, c.relkind, string_agg(a.attname || ' ' || coalesce(b.typname, t.typname) || case when a.attnotnull then '!' else '' end, ',' order by a.attnum)
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid left join pg_type b on t.typtype = 'd' and b.oid = t.typbasetype
where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v')
group by 1, 2, 3 order by 1;
