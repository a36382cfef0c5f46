select o.oprname, o.oid, coalesce((select typname from pg_type where oid = oprleft), '-'), (select typname from pg_type where oid = oprright),
  (select typname from pg_type where oid = oprresult),
  (case when proisstrict then 's' else '' end) || provolatile::text, case when p.prolang = 14 then p.proname else p.prosrc end, coalesce((select oprname from pg_operator n where n.oid = o.oprnegate), '-')
from pg_operator o join pg_proc p on p.oid = o.oprcode where oprkind in ('b', 'l')
order by o.oprname collate "C", o.oid;
