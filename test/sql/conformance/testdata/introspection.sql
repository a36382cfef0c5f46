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
