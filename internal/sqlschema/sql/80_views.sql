-- Views on which ordinary users are given rights: INSERT posts, SELECT consumes one message.

-- may_read raises unless the session's user may select from a view: the functions that it calls are called by him, not by its owner.
create or replace function mbus4_store.may_read(sname text, vname text) returns void language plpgsql as $$
begin
  if not has_table_privilege(session_user, format('%I.%I', sname, vname), 'select') then
    raise exception 'permission denied for view %', vname using errcode = 'insufficient_privilege';
  end if;
end $$;

-- make_view makes sname.vname with some of the columns data, properties, delayed_until, expires.
create or replace function mbus4_store.make_view(qname text, cname text, sname text, vname text, columns text[]) returns void language plpgsql as $$
declare
  c      mbus4_store.consumer;
  suffix text := sname || '.' || vname;
  posted text := concat_ws(', ', 'data => new.data', case when 'properties' = any(columns) then 'properties => new.properties' end,
    case when 'delayed_until' = any(columns) then 'delayed_until => new.delayed_until' end,
    case when 'expires' = any(columns) then 'expires => new.expires' end);
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  select * into c from mbus4_store.consumer x where x.queue = qname and x.name = cname;
  if not found then
    perform mbus4_store.no_consumer(qname, cname);
  end if;
  execute format('create or replace function mbus4_store.%I() returns setof mbus4.qt_model language plpgsql rows 1 %s as %L',
    'read$' || suffix, mbus4_store.definer(), format($f$
begin
  perform mbus4_store.may_read(%L, %L);
  return query select * from mbus4_store.next(%s, %L, 1);
end $f$, sname, vname, c.id, c.queue));
  execute format('create or replace function mbus4_store.%I() returns trigger language plpgsql %s as %L',
    'write$' || suffix, mbus4_store.definer(), format($f$
begin
  perform mbus4_store.put_in(%L, %s);
  return new;
end $f$, c.queue, posted));
  execute format('create view %I.%I as select %s from mbus4_store.%I()', sname, vname, array_to_string(columns, ', '), 'read$' || suffix);
  execute format('create trigger post instead of insert on %I.%I for each row execute function mbus4_store.%I()', sname, vname, 'write$' || suffix);
  insert into mbus4_store.view values (c.queue, sname, vname)
    on conflict on constraint view_pkey do update set queue = excluded.queue; -- somebody dropped that view by hand
end $$;

create or replace function mbus4_store.put_in(qname text, data hstore, properties hstore default null, delayed_until timestamp default null,
  expires timestamp default null) returns text language plpgsql as $$
declare
  q mbus4_store.queue;
begin
  select * into q from mbus4_store.queue x where x.name = qname;
  return mbus4_store.put(q, data, null, properties, delayed_until, expires, null);
end $$;

-- drop_views drops the views of a queue. Somebody may have dropped one of them before.
create or replace function mbus4_store.drop_views(qname text) returns void language plpgsql as $$
declare
  v mbus4_store.view;
begin
  for v in delete from mbus4_store.view x where x.queue = qname returning * loop
    if to_regclass(format('%I.%I', v.sname, v.vname)) is not null then
      execute format('drop view %I.%I cascade', v.sname, v.vname);
    end if;
    execute format('drop function mbus4_store.%I', 'read$' || v.sname || '.' || v.vname);
    execute format('drop function mbus4_store.%I', 'write$' || v.sname || '.' || v.vname);
  end loop;
end $$;

create or replace function mbus4.create_view(qname text, cname text default 'default', sname text default 'public', viewname text default null)
returns void language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.make_view(qname, cname, sname, coalesce(viewname, qname || '_q'), array['data']);
end $$;

create or replace function mbus4.create_view_prop(qname text, cname text default 'default', sname text default 'public', viewname text default null,
  with_delay boolean default false, with_expire boolean default false)
returns void language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.make_view(qname, cname, sname, coalesce(viewname, qname || '_q'), array['data', 'properties']
    || case when with_delay then array['delayed_until'] end || case when with_expire then array['expires'] end);
end $$;

create or replace view mbus4.queue as
  select q.name::text as qname, q.consumers_cnt, q.roles as is_roles_security_model from mbus4_store.queue q where q.session is null;
create or replace view mbus4.consumer as
  select c.name::text as name, c.queue::text as qname, c.selector, c.added from mbus4_store.consumer c
    join mbus4_store.queue q on q.name = c.queue where q.session is null;
create or replace view mbus4.trigger as
  select g.src::text as src, g.dst::text as dst, g.selector from mbus4_store.trigger g;

-- messages shows what waits for a consumer, in its order, and takes nothing.
create or replace function mbus4.messages(qname text, cname text default 'default') returns setof mbus4.qt_model
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  c mbus4_store.consumer;
begin
  select * into c from mbus4_store.consumer x where x.queue = lower(qname) and x.name = lower(cname);
  if not found then
    perform mbus4_store.no_consumer(qname, cname);
  end if;
  perform mbus4_store.may_consume(c.queue, c.name);
  return query select m.id, m.added, m.iid, m.delayed_until, m.expires, '{}'::int[], m.headers, m.properties, m.data
    from mbus4_store.message m where m.consumer = c.id and (m.expires is null or m.expires > clock_timestamp())
   order by m.added, m.delayed_until, m.id;
end $$;

-- estimated_messages counts up to 10,000 messages; beyond that it is what the planner believes.
create or replace function mbus4.estimated_messages(qname text) returns bigint
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  ids  int[] := array(select c.id from mbus4_store.consumer c where c.queue = lower(qname) and c.name = 'default');
  n    bigint;
  line json;
begin
  if not exists (select from mbus4_store.queue q where q.name = lower(qname)) then
    raise notice 'Requested queue ''%'' does not exists', qname;
    return null;
  end if;
  select count(*) into n from (select from mbus4_store.message m
    where m.consumer = any(ids) and (m.expires is null or m.expires > clock_timestamp()) limit 10000) as some_of_them;
  if n < 10000 then
    return n;
  end if;
  execute format('explain (format json) select from mbus4_store.message where consumer = any(%L::int[])', ids) into line;
  return greatest(n, (line->0->'Plan'->>'Plan Rows')::bigint);
end $$;
