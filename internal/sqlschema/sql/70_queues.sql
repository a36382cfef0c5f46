-- Queues, consumers, triggers, and the functions made for them.

-- Definitions change one after the other.
create or replace function mbus4_store.definitions() returns void language sql as $$
  select pg_advisory_xact_lock(1298298163, 0)
$$;

-- make creates a function in both schemas, unless the name is taken, by another queue's function or one of ours (post_dmq), or too long for one.
create or replace function mbus4_store.make(qname text, cname text, name text, args text, rest text, body text) returns void language plpgsql as $$
declare
  sname text;
  sig   text := name || '(' || args || ')';
begin
  if octet_length(name) > 63
      or exists (select from mbus4_store.made m where m.signature = sig and (m.queue <> qname or m.consumer is distinct from cname))
      or not exists (select from mbus4_store.made m where m.signature = sig)
        and exists (select from pg_proc p where p.pronamespace = 'mbus4'::regnamespace and p.proname = name) then
    return;
  end if;
  foreach sname in array array['mbus4', 'mbus'] loop
    execute format('create or replace function %I.%I(%s) %s as %L', sname, name, args, rest, body);
  end loop;
  insert into mbus4_store.made values (sig, qname, cname) on conflict do nothing;
end $$;

-- unmake drops the functions of a queue, or of one of its consumers.
create or replace function mbus4_store.unmake(qname text, cname text) returns void language plpgsql as $$
declare
  m     mbus4_store.made;
  sname text;
begin
  for m in delete from mbus4_store.made x where x.queue = qname and (cname is null or x.consumer = cname) returning * loop
    foreach sname in array array['mbus4', 'mbus'] loop
      execute format('drop function if exists %I.%I', sname, split_part(m.signature, '(', 1)); -- the name alone says which: there is one
    end loop;
  end loop;
end $$;

create or replace function mbus4_store.definer() returns text language sql as $$
  select 'security definer set search_path = pg_catalog, @hstore@, pg_temp'
$$;

create or replace function mbus4_store.make_queue_functions(q mbus4_store.queue) returns void language plpgsql as $$
begin
  perform mbus4_store.make(q.name, null, 'post_' || q.name, 'data hstore, headers hstore default null, properties hstore default null, '
    'delayed_until timestamp default null, expires timestamp default null, iid text default null',
    'returns text language plpgsql ' || mbus4_store.definer(), format($f$
begin
  return mbus4.post(%L, data, headers, properties, delayed_until, expires, iid);
end $f$, q.name));
  perform mbus4_store.make(q.name, null, 'peek_' || q.name, 'msgid text default null', 'returns boolean language plpgsql ' || mbus4_store.definer(),
    format('begin return mbus4_store.peek_at(%L, msgid); end', q.name));
  perform mbus4_store.make(q.name, null, 'clear_queue_' || q.name, '', 'returns void language plpgsql ' || mbus4_store.definer(),
    format('begin perform mbus4_store.clear(%L); end', q.name));
end $$;

create or replace function mbus4_store.make_consumer_functions(c mbus4_store.consumer) returns void language plpgsql as $$
declare
  of_both text := c.queue || '_by_' || c.name;
begin
  perform mbus4_store.make(c.queue, c.name, 'consume_' || of_both, '',
    'returns setof mbus4.qt_model language plpgsql rows 1 ' || mbus4_store.definer(), format($f$
begin
  perform mbus4_store.may_consume(%L, %L);
  return query select * from mbus4_store.next(%s, %L, 1);
end $f$, c.queue, c.name, c.id, c.queue));
  perform mbus4_store.make(c.queue, c.name, 'consumen_' || of_both, 'amt integer',
    'returns setof mbus4.qt_model language plpgsql rows 100 ' || mbus4_store.definer(), format($f$
begin
  perform mbus4_store.may_consume(%L, %L);
  return query select * from mbus4_store.next(%s, %L, amt);
end $f$, c.queue, c.name, c.id, c.queue));
  perform mbus4_store.make(c.queue, c.name, 'take_from_' || of_both, 'msgid text', 'returns mbus4.qt_model language plpgsql ' || mbus4_store.definer(),
    format('begin return mbus4_store.take_from(%L, %L, msgid); end', c.queue, c.name));
end $$;

-- respread makes spread$q anew, and those of the queues whose triggers copy to q when q came or went.
create or replace function mbus4_store.respread(qname text, came_or_went boolean) returns void language plpgsql as $$
declare
  src text;
begin
  if exists (select from mbus4_store.queue where name = qname) then
    perform mbus4_store.make_spread(qname);
  end if;
  if came_or_went then
    for src in select g.src from mbus4_store.trigger g join mbus4_store.queue s on s.name = g.src where g.dst = qname loop
      perform mbus4_store.make_spread(src);
    end loop;
  end if;
end $$;

-- make_consumer has no look at rights and names.
create or replace function mbus4_store.make_consumer(qname text, cname text, selector text) returns void language plpgsql as $$
declare
  c mbus4_store.consumer;
begin
  insert into mbus4_store.consumer (queue, name, selector) values (qname, cname, selector) returning * into c;
  if selector is not null then
    perform mbus4_store.make_selector('selects$' || c.id, selector);
  end if;
  if exists (select from mbus4_store.queue q where q.name = qname and q.roles) then
    perform mbus4_store.make_role(mbus4_store.consume_role(qname, cname));
  end if;
  if not starts_with(qname, 'temp.') then
    perform mbus4_store.make_consumer_functions(c);
  end if;
end $$;

-- make_queue has no look at rights and names.
create or replace function mbus4_store.make_queue(qname text, cnt int, with_roles boolean) returns void language plpgsql as $$
declare
  q mbus4_store.queue;
begin
  perform mbus4_store.definitions();
  insert into mbus4_store.queue (name, consumers_cnt, roles) values (qname, cnt, with_roles) on conflict do nothing returning * into q;
  if not found then
    return;
  end if;
  if with_roles then
    perform mbus4_store.make_role(mbus4_store.post_role(qname));
  end if;
  perform mbus4_store.make_consumer(qname, 'default', null);
  perform mbus4_store.make_queue_functions(q);
  perform mbus4_store.respread(qname, true);
end $$;

create or replace function mbus4.create_queue(qname text, consumers_cnt int, is_roles_security_model boolean default null) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.only_owner();
  if qname is null or length(qname) > 32 or qname !~ '^[a-z0-9_]+$' then
    raise exception 'Name % too long (32 chars max) or contains illegal chars', qname;
  end if;
  perform mbus4_store.make_queue(qname, consumers_cnt, coalesce(is_roles_security_model, false));
end $$;

create or replace function mbus4.drop_queue(qname text) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  q mbus4_store.queue;
  c mbus4_store.consumer;
  g mbus4_store.trigger;
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  select * into q from mbus4_store.queue x where x.name = qname and x.session is null;
  if not found then
    raise exception 'Queue % does not exists', qname;
  end if;
  perform mbus4_store.drop_views(qname);
  perform mbus4_store.unmake(qname, null);
  for c in select * from mbus4_store.consumer x where x.queue = qname loop
    perform mbus4_store.remove_consumer(c, q.roles);
  end loop;
  if q.roles then
    perform mbus4_store.drop_role(mbus4_store.post_role(qname));
  end if;
  for g in select * from mbus4_store.trigger x where x.src = qname or x.dst = qname loop
    perform mbus4_store.remove_trigger(g);
  end loop;
  delete from mbus4_store.queue x where x.name = qname;
  execute format('drop function mbus4_store.%I, mbus4_store.%I', 'spread$' || qname, 'copies$' || qname);
end $$;

create or replace function mbus4_store.remove_consumer(c mbus4_store.consumer, with_roles boolean) returns void language plpgsql as $$
begin
  delete from mbus4_store.message m where m.consumer = c.id;
  delete from mbus4_store.consumer x where x.id = c.id;
  if c.selector is not null then
    execute format('drop function mbus4_store.%I', 'selects$' || c.id);
  end if;
  if with_roles then
    perform mbus4_store.drop_role(mbus4_store.consume_role(c.queue, c.name));
  end if;
end $$;

create or replace function mbus4.create_consumer(qname text, cname text, selector text default null, noindex boolean default false) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  q      text := qname;
  c      text := cname;
  chosen text := mbus4_store.normal(selector);
  old    mbus4_store.consumer;
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  if not exists (select from mbus4_store.queue x where x.name = q and x.session is null)
      and exists (select from mbus4_store.queue x where x.name = c and x.session is null) then
    q := cname; -- the other order of arguments
    c := qname;
  end if;
  if not exists (select from mbus4_store.queue x where x.name = q and x.session is null) then
    raise exception 'Wrong queue name:%', q;
  end if;
  if c is null or length(c) > 32 or c !~ '^[a-z0-9_]+$' then
    raise exception 'Wrong consumer name:%', c;
  end if;
  select * into old from mbus4_store.consumer x where x.name = c and (x.queue = q or c <> 'default');
  if found and old.queue = q and old.selector is not distinct from chosen then
    return;
  elsif found then
    raise exception 'Consumer with identical name (%) and different % already exists!', c, case when old.queue = q then 'selector' else 'queue' end;
  end if;
  if chosen is not null then
    perform mbus4_store.check_selector(chosen);
  end if;
  perform mbus4_store.make_consumer(q, c, chosen);
  perform mbus4_store.respread(q, false);
  if noindex then
    raise notice 'You must create index qt$%_for_% on mbus4.qt$%(added, delayed_until) WHERE (%)', q, c, q, coalesce(chosen, '1=1');
  end if;
end $$;

create or replace function mbus4.drop_consumer(cname text, qname text) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  q mbus4_store.queue;
  c mbus4_store.consumer;
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  select * into q from mbus4_store.queue x where x.name = qname and x.session is null;
  if not found then
    select * into q from mbus4_store.queue x where x.name = cname and x.session is null; -- the other order of arguments
    if not found then
      raise exception 'Queue % does not exists', qname;
    end if;
  end if;
  select * into c from mbus4_store.consumer x where x.queue = q.name and x.name = case when q.name = qname then cname else qname end;
  if not found then
    raise exception 'unknown consumer:%', case when q.name = qname then cname else qname end;
  end if;
  perform mbus4_store.unmake(c.queue, c.name);
  perform mbus4_store.remove_consumer(c, q.roles);
  perform mbus4_store.respread(q.name, false);
end $$;
