-- What tools ask of the catalogs.
select mbus4.create_queue('shown', 4);
--> create_queue
-->
select mbus4.create_view('shown');
--> create_view
-->
-- JDBC's getTablePrivileges joins relations with their owners
select n.nspname, c.relname, r.rolname from pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r where c.relnamespace = n.oid and c.relowner = r.oid and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = 'shown_q';
--> nspname | relname | rolname
--> public | shown_q | guest
select r.usename from pg_catalog.pg_database d join pg_catalog.pg_user r on r.usesysid = d.datdba where d.datname = current_database();
--> usename
--> guest
-- TypeORM looks every column of information_schema up in pg_attribute
select c.column_name, a.attnum, format_type(a.atttypid, a.atttypmod) from information_schema.columns c left join pg_catalog.pg_attribute a on a.attname = c.column_name and a.attrelid = (select cls.oid from pg_catalog.pg_class cls left join pg_catalog.pg_namespace ns on ns.oid = cls.relnamespace where cls.relname = c.table_name and ns.nspname = c.table_schema) where c.table_name = 'shown_q';
--> column_name | attnum | format_type
--> data | 1 | hstore
-- Lookups by name find the objects of every schema
select n.nspname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relname = 'trigger' and n.nspname like 'mbus_' order by 1;
--> nspname
--> mbus4
select relname from pg_catalog.pg_class where relname = 'shown_q' and oid = 'shown_q'::regclass;
--> relname
--> shown_q
select relname from pg_catalog.pg_class where relname = 'pg_type' and oid = 'pg_class'::regclass;
--> relname
--> (0 rows)
select typname, typtype from pg_catalog.pg_type where typname in ('shown_q', 'int4') order by 1;
--> typname | typtype
--> int4 | b
--> shown_q | c
select typname from pg_catalog.pg_type where typname = '_shown_q';
--> typname
--> _shown_q
select count(*) from pg_catalog.pg_proc where proname = 'akeys';
--> count
--> 1
select attnum from pg_catalog.pg_attribute where attname = 'relname' and attrelid = 'pg_class'::regclass;
--> attnum
--> 2
select count(*) from pg_catalog.pg_class where relname = null;
--> count
--> 0
-- DataGrip reads when an object changed
select relname, xmin::text::bigint > 0 as changed, age(xmin) >= 0 as aged from pg_catalog.pg_class where relname = 'shown_q';
--> relname | changed | aged
--> shown_q | t | t
select n.nspname, n.xmin is not null as changed from pg_catalog.pg_namespace n where n.nspname = 'public';
--> nspname | changed
--> public | t
select c.relname, a.xmin is null as missing from pg_catalog.pg_class c left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'nothing' where c.relname = 'shown_q';
--> relname | missing
--> shown_q | t
select age('1'::xid), age('2'::xid);
--> age | age
--> 2147483647 | 2147483647
select xmin from shown_q;
--> ERROR 42703: column "xmin" does not exist
select xmin from pg_catalog.pg_class, pg_catalog.pg_type;
--> ERROR 42702: column reference "xmin" is ambiguous
select l.transactionid from pg_catalog.pg_locks l where l.transactionid is not null and false order by pg_catalog.age(l.transactionid);
--> transactionid
--> (0 rows)
select name, version from pg_available_extension_versions() where name = 'hstore' and version = '1.8';
--> name | version
--> hstore | 1.8
-- asyncpg and others read addresses in binary
select '10.0.0.1'::inet, '10.0.0.1/24'::inet, '::1'::inet, '::ffff:1.2.3.4'::inet, '2001:db8::/32'::inet;
--> inet | inet | inet | inet | inet
--> 10.0.0.1 | 10.0.0.1/24 | ::1 | ::ffff:1.2.3.4 | 2001:db8::/32
-- DBeaver and pgAdmin show counters
select pg_catalog.pg_stat_get_numscans(c.oid), pg_stat_get_live_tuples(c.oid), pg_stat_get_tuples_inserted(c.oid), pg_stat_get_blocks_hit(c.oid) from pg_catalog.pg_class c where c.relname = 'shown_q';
--> pg_stat_get_numscans | pg_stat_get_live_tuples | pg_stat_get_tuples_inserted | pg_stat_get_blocks_hit
--> 0 | 0 | 0 | 0
