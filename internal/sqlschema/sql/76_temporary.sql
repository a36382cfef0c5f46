-- Temporary queues: a session's own, gone with it.

create or replace function mbus4_store.make_temporary() returns text language plpgsql as $$
declare
  session text := nullif(current_setting('mbus4.session', true), '');
  n       int := nextval('mbus4_store.temporary');
  qname   text;
begin
  if session is null then
    session := left(md5(gen_random_uuid()::text), 8);
    perform set_config('mbus4.session', session, false);
  end if;
  qname := 'temp.' || session || '.' || n;
  perform pg_advisory_lock(1298298163, n); -- until the session ends
  insert into mbus4_store.queue (name, session, number) values (qname, session, n);
  perform mbus4_store.make_consumer(qname, 'default', null);
  perform mbus4_store.make_spread(qname);
  return qname;
end $$;

create or replace function mbus4.create_temporary_queue() returns text
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  return mbus4_store.make_temporary();
end $$;

create or replace function mbus4.create_temporary_consumer(qname text, selector text default null) returns text
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  tq text;
begin
  perform mbus4_store.definitions();
  perform mbus4_store.may_consume(qname, 'default');
  perform mbus4_store.notice_missing('source', qname);
  tq := mbus4_store.make_temporary();
  perform mbus4_store.make_trigger(qname, tq, mbus4_store.normal(selector));
  return tq;
end $$;

create or replace function mbus4.clear_tempq() returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  q mbus4_store.queue;
  c mbus4_store.consumer;
  g mbus4_store.trigger;
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  for q in select * from mbus4_store.queue x where x.session is not null and not mbus4_store.alive(x.session, x.number) loop
    for c in select * from mbus4_store.consumer x where x.queue = q.name loop
      perform mbus4_store.remove_consumer(c, false);
    end loop;
    for g in select * from mbus4_store.trigger x where x.dst = q.name loop
      perform mbus4_store.remove_trigger(g);
    end loop;
    delete from mbus4_store.queue x where x.name = q.name;
    execute format('drop function mbus4_store.%I, mbus4_store.%I', 'spread$' || q.name, 'copies$' || q.name);
  end loop;
end $$;
