-- The older name, the functions of the queues that are there, and who may look.

create or replace view mbus.queue as select * from mbus4.queue;
create or replace view mbus.consumer as select * from mbus4.consumer;
create or replace view mbus.trigger as select * from mbus4.trigger;

do $$
declare
  f record;
begin
  for f in select p.oid, p.proname from pg_proc p
      where p.pronamespace = 'mbus4'::regnamespace and p.proname not in (select split_part(m.signature, '(', 1) from mbus4_store.made m) loop
    execute replace(pg_get_functiondef(f.oid), format('FUNCTION mbus4.%I(', f.proname), format('FUNCTION mbus.%I(', f.proname));
  end loop;
  perform mbus4_store.make_queue_functions(q) from mbus4_store.queue q where q.session is null;
  perform mbus4_store.make_consumer_functions(c) from mbus4_store.consumer c join mbus4_store.queue q on q.name = c.queue where q.session is null;
  perform mbus4_store.make_spread(q.name) from mbus4_store.queue q;
end $$;

grant usage on schema mbus4, mbus to public;
grant select on mbus4.queue, mbus4.consumer, mbus4.trigger, mbus.queue, mbus.consumer, mbus.trigger to public;
insert into mbus4_store.version (version) values (1) on conflict do nothing;
