-- Posting.

-- alive tells whether a temporary queue's session is there: it holds the advisory lock of the queue's number until it ends.
create or replace function mbus4_store.alive(session text, number int) returns boolean language sql volatile as $$
  select session is not distinct from current_setting('mbus4.session', true) or not pg_try_advisory_xact_lock_shared(1298298163, number)
$$;

-- copy stores a message for those consumers that a look at it shows.
create or replace function mbus4_store.copy(qname text, t mbus4.qt_model, later boolean, waits text[]) returns void language sql as $$
  insert into mbus4_store.message (consumer, later, added, delayed_until, id, iid, expires, waits, headers, properties, data)
    select c.id, later, t.added, t.delayed_until, t.id, t.iid, t.expires, waits, t.headers, t.properties, t.data
      from unnest(mbus4_store.spread(qname, t)) as s(id)
      join mbus4_store.consumer c on c.id = s.id
      join mbus4_store.queue q on q.name = c.queue
     where q.session is null or mbus4_store.alive(q.session, q.number)
$$;

create or replace function mbus4_store.seenby(headers hstore) returns text language sql immutable as $$
  select (coalesce((headers->'seenby')::text[], '{}') || current_database()::text)::text
$$;

-- keep_given stores a message whose iid the poster gave. It must be free in the queue; who posts or takes it and has not committed yet is waited for.
-- An exception block would make them wait for the end of a whole transaction where its savepoint decides.
create or replace function mbus4_store.keep_given(q mbus4_store.queue, t mbus4.qt_model, later boolean, waits text[]) returns void language plpgsql as $$
declare
  taken boolean;
begin
  if q.name <> 'dmq' and not starts_with(t.iid, q.name || '.') and not starts_with(t.iid, 'dmq.') then
    raise exception 'Wrong iid=% for queue %', t.iid, q.name;
  end if;
  perform from mbus4_store.message m join mbus4_store.consumer c on c.id = m.consumer where m.iid = t.iid and c.queue = q.name for key share of m;
  taken := found;
  if not taken then
    with c as (
      select c.id from unnest(mbus4_store.spread(q.name, t)) as s(id) join mbus4_store.consumer c on c.id = s.id),
    i as (
      insert into mbus4_store.message (consumer, later, added, delayed_until, id, iid, expires, waits, headers, properties, data, given)
        select c.id, later, t.added, t.delayed_until, t.id, t.iid, t.expires, waits, t.headers, t.properties, t.data, true from c
      on conflict do nothing returning 1)
    select (select count(*) from i) < (select count(*) from c) into taken;
  end if;
  if taken then
    raise exception 'Message % already exists', t.iid using errcode = 'unique_violation';
  end if;
end $$;

-- put_copies puts what q's triggers copy: messages of their own, with the poster's headers, at once and for ever; but what is for a temporary
-- queue comes and expires with its original.
create or replace function mbus4_store.put_copies(q mbus4_store.queue, t mbus4.qt_model, headers hstore, delayed_until timestamp)
returns void language plpgsql as $$
declare
  d mbus4_store.queue;
begin
  for d in select x.* from unnest(mbus4_store.copies(q.name, t)) as c(name) join mbus4_store.queue x on x.name = c.name loop
    if d.session is null then
      perform mbus4_store.put(d, t.data, headers, t.properties, null, null, null);
    elsif mbus4_store.alive(d.session, d.number) then
      perform mbus4_store.put(d, t.data, headers, t.properties, delayed_until, t.expires, null);
    end if;
  end loop;
end $$;

-- put stores a message in q, whose rights were looked at.
create or replace function mbus4_store.put(q mbus4_store.queue, data hstore, headers hstore, properties hstore,
  delayed_until timestamp, expires timestamp, iid text) returns text language plpgsql as $$
declare
  n         bigint := nextval('mbus4_store.seq');
  id_       text := coalesce(iid, case when q.session is null then q.name else current_database() end || '.' || n);
  since     text := coalesce(headers->'enqueue_time', localtimestamp::text);
  later     boolean := delayed_until is not null and delayed_until > clock_timestamp();
  waits     text[] := headers->'consume_after';
  redeploy  boolean := headers->'Redeploy';
  stored    hstore;
  t         mbus4.qt_model;
begin
  if headers is null then
    stored := hstore(array['enqueue_time', since, 'source_db', current_database(), 'destination_queue', q.name,
      'seenby', array[current_database()]::text]);
  else
    stored := hstore(array['source_db', current_database(), 'destination_queue', q.name]) || headers
      || hstore(array['enqueue_time', since, 'seenby', mbus4_store.seenby(headers)]);
    if waits is not null then
      stored := stored || hstore('consume_after', waits::text);
    end if;
  end if;
  t := row(n, since, id_, coalesce(delayed_until, localtimestamp - interval '1 hour'), expires, '{}', stored, properties, data)::mbus4.qt_model;
  if iid is not null then
    perform mbus4_store.keep_given(q, t, later, waits);
  elsif q.plain is not null then
    insert into mbus4_store.message (consumer, later, added, delayed_until, id, iid, expires, waits, headers, properties, data)
      values (q.plain, later, t.added, t.delayed_until, n, id_, expires, waits, stored, properties, data);
  else
    perform mbus4_store.copy(q.name, t, later, waits);
  end if;
  if q.plain is null and redeploy is not true then
    perform mbus4_store.put_copies(q, t, headers, delayed_until);
  end if;
  return id_;
end $$;

-- dmq returns the dead message queue and makes it when there is none yet.
create or replace function mbus4_store.dmq() returns mbus4_store.queue language plpgsql as $$
declare
  q mbus4_store.queue;
begin
  select * into q from mbus4_store.queue where name = 'dmq';
  if not found then
    perform mbus4_store.make_queue('dmq', 1, false);
    select * into q from mbus4_store.queue where name = 'dmq';
  end if;
  return q;
end $$;

create or replace function mbus4.post(qname text, data hstore, headers hstore default null, properties hstore default null,
  delayed_until timestamp default null, expires timestamp default null, iid text default null)
returns text language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  q mbus4_store.queue;
begin
  select * into q from mbus4_store.queue where name = lower(qname);
  if not found then
    if lower(qname) = 'dmq' then
      q := mbus4_store.dmq();
    else
      raise exception 'Unknown queue:%', qname;
    end if;
  end if;
  if q.session is not null then
    if not mbus4_store.alive(q.session, q.number) then
      raise exception 'Unknown queue:%', qname;
    end if;
  elsif not pg_has_role(session_user, current_user, 'usage') and not (q.roles and mbus4_store.has_role(mbus4_store.post_role(q.name))) then
    raise exception 'Access denied';
  end if;
  return mbus4_store.put(q, data, headers, properties, delayed_until, expires, iid);
end $$;

create or replace function mbus4.post_dmq(data hstore, headers hstore default null, properties hstore default null,
  delayed_until timestamp default null, expires timestamp default null, iid text default null)
returns text language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  perform mbus4_store.only_owner();
  return mbus4_store.put(mbus4_store.dmq(), data, headers, properties, delayed_until, expires, iid);
end $$;

create or replace function mbus4.get_iid(qname text) returns text
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
begin
  if not exists (select from mbus4_store.queue q where q.name = lower(qname)) then
    raise exception 'No such queue: %', qname;
  end if;
  return lower(qname) || '.' || nextval('mbus4_store.seq');
end $$;
