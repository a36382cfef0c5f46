select p.proname, p.oid,
  p.prokind::text || case when proisstrict then 's' else '' end || case when provariadic <> 0 then 'v' else '' end || case when proretset then 'r' else '' end || provolatile::text,
  (select typname from pg_type where oid = prorettype),
  coalesce((select string_agg(t.typname, ' ' order by n) from unnest(p.proargtypes) with ordinality a(o, n) join pg_type t on t.oid = o), ''),
  coalesce((select string_agg(case when name = '' then '-' else name end, ' ' order by n)
    from unnest(p.proargnames, coalesce(p.proargmodes, array_fill('i'::"char", array[coalesce(cardinality(proargnames), 0)]))) with ordinality a(name, mode, n) where mode in ('i', 'v')), ''),
  coalesce((select string_agg(case when name = '' then '-' else name end || ' ' || typname, ' ' order by n)
    from unnest(p.proargnames, p.proallargtypes, p.proargmodes) with ordinality a(name, o, mode, n) join pg_type t on t.oid = o where mode in ('o', 't')), ''),
  coalesce(pg_get_expr(proargdefaults, 0), ''),
  case when prolang = 14 then p.proname else p.prosrc end
from pg_proc p
where prokind in ('f', 'a', 'w') and pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
  and not proargtypes::oid[] && array['internal', 'cstring', 'pg_ddl_command']::regtype[]::oid[]
  and prorettype <> all (array['internal', 'cstring', 'trigger', 'event_trigger', 'language_handler', 'fdw_handler', 'index_am_handler', 'tsm_handler', 'table_am_handler']::regtype[])
  and proname !~ '^(binary_upgrade|pg_stat_get_(?!(numscans|live_tuples|dead_tuples|tuples_(inserted|updated|deleted|fetched|returned)|blocks_fetched|blocks_hit)$)|pg_replication|pg_logical|ts_|gts|gin|gist|spg|brin|gbt|jsonb_path|.*_support|.*send$|RI_)'
order by p.proname collate "C", p.oid;
