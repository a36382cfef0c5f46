-- Run functions: messages worked off inside the database.

-- bury puts a message on which its work failed into the dead message queue.
create or replace function mbus4_store.bury(q mbus4_store.queue, r mbus4.qt_model, error text) returns void language sql as $$
  insert into mbus4_store.message (consumer, later, added, delayed_until, id, iid, expires, headers, properties, data)
    select c.id, false, r.added, r.delayed_until, r.id, r.iid, r.expires,
           r.headers || hstore(array['dmq.added', localtimestamp::text, 'dmq.error', error]), r.properties, r.data
      from mbus4_store.consumer c where c.queue = q.name
$$;

create or replace function mbus4.run_failed(qname text, r mbus4.qt_model, error text) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.may_consume(qname, 'default');
  perform mbus4_store.bury(mbus4_store.dmq(), r, error);
end $$;

create or replace function mbus4.create_run_function(qname text) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  if not exists (select from mbus4_store.queue q where q.name = qname and q.session is null) then
    raise exception 'Queue % does not exists!', qname;
  end if;
  -- It has the rights of who calls it: exec is his.
  perform mbus4_store.make(qname, null, 'run_on_' || qname, 'exec text', 'returns integer language plpgsql', format($f$
declare
  r   mbus4.qt_model;
  cnt integer := 0;
begin
  for r in select * from mbus4.%I(100) loop
    begin
      execute exec using r;
      cnt := cnt + 1;
    exception when others then
      perform mbus4.run_failed(%L, r, sqlerrm);
    end;
  end loop;
  return cnt;
end $f$, 'consumen_' || qname || '_by_default', qname));
end $$;
