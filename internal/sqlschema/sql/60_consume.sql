-- Consuming. A message is deleted by who gets it; whoever else comes meanwhile skips it, and finds it again after a rollback.
--
-- The settings of these functions keep the planner to the index whatever it believes about a table whose size changes all the time.

-- blocked tells whether a message waits for one that is still there. Messages in temporary queues count for nobody but their session.
create or replace function mbus4_store.blocked(waits text[]) returns boolean language sql stable as $$
  select exists (select from mbus4_store.message w
    where w.iid = any(blocked.waits) and (w.expires is null or w.expires > clock_timestamp())
      and not exists (select from mbus4_store.consumer c join mbus4_store.queue q on q.name = c.queue where c.id = w.consumer and q.session is not null))
$$;

-- next takes up to amt messages of a consumer in their order. Delayed ones that are due make it look at both kinds.
create or replace function mbus4_store.next(of_consumer int, qname text, amt bigint) returns setof mbus4.qt_model language plpgsql
rows 1 set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  moment timestamp := clock_timestamp();
begin
  if exists (select from mbus4_store.message m where m.consumer = of_consumer and m.later and m.delayed_until <= moment) then
    return query
      with d as (
        delete from mbus4_store.message where ctid = any(array(
          select m.ctid from mbus4_store.message m
           where m.consumer = of_consumer and m.delayed_until <= moment and (m.expires is null or m.expires > moment)
             and (m.waits is null or not mbus4_store.blocked(m.waits))
           order by m.added, m.delayed_until, m.id limit amt for update of m skip locked))
        returning *)
      select d.id, d.added, d.iid, d.delayed_until, d.expires, '{}'::int[], d.headers || hstore('destination', qname), d.properties, d.data
        from d order by d.added, d.delayed_until, d.id;
  elsif amt = 1 then
    return query
      delete from mbus4_store.message d where d.ctid = (
        select m.ctid from mbus4_store.message m
         where m.consumer = of_consumer and not m.later and (m.expires is null or m.expires > moment)
           and (m.waits is null or not mbus4_store.blocked(m.waits))
         order by m.added, m.delayed_until, m.id limit 1 for update of m skip locked)
      returning d.id, d.added, d.iid, d.delayed_until, d.expires, '{}'::int[], d.headers || hstore('destination', qname), d.properties, d.data;
  else
    return query
      with d as (
        delete from mbus4_store.message where ctid = any(array(
          select m.ctid from mbus4_store.message m
           where m.consumer = of_consumer and not m.later and (m.expires is null or m.expires > moment)
             and (m.waits is null or not mbus4_store.blocked(m.waits))
           order by m.added, m.delayed_until, m.id limit amt for update of m skip locked))
        returning *)
      select d.id, d.added, d.iid, d.delayed_until, d.expires, '{}'::int[], d.headers || hstore('destination', qname), d.properties, d.data
        from d order by d.added, d.delayed_until, d.id;
  end if;
end $$;

-- may_consume raises unless the session's user may consume from a queue that is not temporary.
create or replace function mbus4_store.may_consume(qname text, cname text) returns void language plpgsql as $$
begin
  if pg_has_role(session_user, current_user, 'usage') then
    return;
  end if;
  if not exists (select from mbus4_store.queue q where q.name = qname and q.roles) or not mbus4_store.has_role(mbus4_store.consume_role(qname, cname)) then
    raise exception 'Access denied';
  end if;
end $$;

create or replace function mbus4_store.no_consumer(qname text, cname text) returns void language plpgsql as $$
begin
  if not exists (select from mbus4_store.queue q where q.session is null and q.name <> 'dmq') then
    raise exception 'No queues were defined';
  elsif not exists (select from mbus4_store.queue q where q.name = lower(qname)) then
    raise exception 'Queue % does not exists', qname;
  else
    raise exception 'unknown consumer:%', cname;
  end if;
end $$;

create or replace function mbus4.consume(qname text, cname text default 'default') returns setof mbus4.qt_model
language plpgsql rows 1 security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  c mbus4_store.consumer;
begin
  select * into c from mbus4_store.consumer x where x.queue = lower(qname) and x.name = lower(cname);
  if not found then
    if starts_with(qname, 'temp.') or lower(qname) = 'dmq' then
      return;
    end if;
    perform mbus4_store.no_consumer(qname, cname);
  end if;
  if not starts_with(c.queue, 'temp.') then
    perform mbus4_store.may_consume(c.queue, c.name);
  end if;
  return query select * from mbus4_store.next(c.id, c.queue, 1);
end $$;

create or replace function mbus4.dyn_consume(qname text, selector text default '(1=1)', cname text default 'default')
returns setof mbus4.qt_model language plpgsql rows 1 security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  c      mbus4_store.consumer;
  chosen text := coalesce(mbus4_store.normal(selector), '1=1');
begin
  select * into c from mbus4_store.consumer x where x.queue = lower(qname) and x.name = lower(cname);
  if not found then
    raise exception 'Consumer % does not exists!', cname;
  end if;
  perform mbus4_store.may_consume(c.queue, c.name);
  if not pg_has_role(session_user, current_user, 'usage') then
    perform mbus4_store.check_selector(chosen); -- it runs with the rights of the owner
  end if;
  return query execute format($q$
    delete from mbus4_store.message d where d.ctid = (
      select m.ctid from mbus4_store.message m
       where m.consumer = $1 and m.delayed_until <= $2 and (m.expires is null or m.expires > $2)
         and (m.waits is null or not mbus4_store.blocked(m.waits))
         and (select (%s
           ) from (select m.id, m.added, m.iid, m.delayed_until, m.expires, '{}'::int[] as received, m.headers, m.properties, m.data) as t)
       order by m.added, m.delayed_until, m.id limit 1 for update of m skip locked)
    returning d.id, d.added, d.iid, d.delayed_until, d.expires, '{}'::int[], d.headers || hstore('destination', $3), d.properties, d.data
    $q$, chosen) using c.id, clock_timestamp()::timestamp, c.queue;
end $$;

-- take_of takes a message from some consumers, from whichever of them have it, and waits for it while another transaction holds it.
create or replace function mbus4_store.take_of(consumers int[], qname text, msgid text) returns mbus4.qt_model language plpgsql as $$
declare
  r mbus4.qt_model;
begin
  with d as (
    delete from mbus4_store.message m where m.iid = msgid and m.consumer = any(consumers) and (m.expires is null or m.expires > clock_timestamp())
    returning *)
  select d.id, d.added, d.iid, d.delayed_until, d.expires, '{}', d.headers || hstore('destination', qname), d.properties, d.data
    into r from d order by d.consumer limit 1;
  return r;
end $$;

-- homes are the queues in which a message is looked for by its iid alone: the one that the iid names, for its owner the dead message queue, and
-- where the iid names that one whatever queue it was posted to with it. A copy that a trigger made is not taken for the message.
create or replace function mbus4_store.homes(msgid text) returns setof text language plpgsql stable as $$
declare
  home text := split_part(msgid, '.', 1);
begin
  return next home;
  if pg_has_role(session_user, current_user, 'usage') then
    return next 'dmq';
    if home = 'dmq' then
      return query select c.queue::text from mbus4_store.message m join mbus4_store.consumer c on c.id = m.consumer where m.iid = msgid;
    end if;
  end if;
end $$;

create or replace function mbus4.take(msgid text) returns mbus4.qt_model
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  r    mbus4.qt_model;
  home text;
begin
  for home in select * from mbus4_store.homes(msgid) loop
    perform mbus4_store.may_consume(home, 'default');
    r := mbus4_store.take_of(array(select c.id from mbus4_store.consumer c where c.queue = home), home, msgid);
    exit when r.iid is not null;
  end loop;
  return r;
end $$;

-- take_from is take_from_q_by_c.
create or replace function mbus4_store.take_from(qname text, cname text, msgid text) returns mbus4.qt_model language plpgsql as $$
begin
  perform mbus4_store.may_consume(qname, cname);
  return mbus4_store.take_of(array(select c.id from mbus4_store.consumer c where c.queue = qname and c.name = cname), qname, msgid);
end $$;

-- found returns a message of a queue without taking it; any queue's that is not temporary for a null qname.
create or replace function mbus4_store.found(qname text, msgid text) returns mbus4.qt_model language sql stable as $$
  select m.id, m.added, m.iid, m.delayed_until, m.expires, '{}'::int[], m.headers, m.properties, m.data
    from mbus4_store.message m join mbus4_store.consumer c on c.id = m.consumer join mbus4_store.queue q on q.name = c.queue
   where m.iid = msgid and (c.queue = qname or qname is null and q.session is null) and (m.expires is null or m.expires > clock_timestamp())
   order by c.id limit 1
$$;

create or replace function mbus4.peek(msgid text) returns mbus4.qt_model
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  r    mbus4.qt_model;
  home text;
begin
  for home in select * from mbus4_store.homes(msgid) loop
    perform mbus4_store.may_consume(home, 'default');
    r := mbus4_store.found(home, msgid);
    exit when r.iid is not null;
  end loop;
  return r;
end $$;

-- peek_at is peek_q.
create or replace function mbus4_store.peek_at(qname text, msgid text) returns boolean language plpgsql as $$
begin
  perform mbus4_store.may_consume(qname, 'default');
  if msgid is not null then
    return (mbus4_store.found(qname, msgid)).iid is not null;
  end if;
  return exists (select from mbus4_store.consumer c join mbus4_store.message m on m.consumer = c.id
    where c.queue = qname and (m.expires is null or m.expires > clock_timestamp()));
end $$;

create or replace function mbus4.is_msg_exists(iid text) returns boolean
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  return (mbus4_store.found(null, iid)).iid is not null;
end $$;

-- clear deletes what has expired in a queue. What every consumer has received is gone already.
create or replace function mbus4_store.clear(qname text) returns void language plpgsql as $$
begin
  perform mbus4_store.only_owner();
  delete from mbus4_store.message m using mbus4_store.consumer c
   where c.queue = qname and m.consumer = c.id and m.expires <= clock_timestamp();
end $$;
