-- What is stored. The schema mbus4 holds what people call; mbus holds the same under the older name; mbus4_store is nobody's business.

create schema if not exists mbus4;
create schema if not exists mbus;
create schema if not exists mbus4_store;

create table if not exists mbus4_store.version (
  version   int primary key,
  installed timestamptz not null default now()
);

do $$
begin
  if to_regtype('mbus4.qt_model') is null then
    create type mbus4.qt_model as (
      id bigint, added timestamp, iid text, delayed_until timestamp, expires timestamp, received int[],
      headers hstore, properties hstore, data hstore);
  end if;
  if to_regtype('mbus.qt_model') is null then
    create domain mbus.qt_model as mbus4.qt_model;
  end if;
end $$;

create table if not exists mbus4_store.queue (
  name          text collate "C" primary key,
  consumers_cnt int,
  roles         boolean not null default false, -- the roles security model
  plain         int,                            -- the one consumer that gets every post; null when it takes a look at each
  session       text,                           -- of a temporary queue: whose it is
  number        int                             -- of a temporary queue: its session's advisory lock
);

create table if not exists mbus4_store.consumer (
  id       int generated always as identity primary key,
  queue    text collate "C" not null references mbus4_store.queue on delete cascade,
  name     text collate "C" not null,
  selector text,
  added    timestamp not null default localtimestamp,
  unique (queue, name)
);

create table if not exists mbus4_store.trigger (
  id       int generated always as identity unique,
  src      text collate "C",
  dst      text collate "C",
  selector text,
  primary key (src, dst)
);
create index if not exists trigger_dst on mbus4_store.trigger (dst);

create table if not exists mbus4_store.view (
  queue text collate "C" not null references mbus4_store.queue on delete cascade,
  sname text,
  vname text,
  primary key (sname, vname)
);

-- The functions that were made for a queue or a consumer: the first who needs a name has it.
create table if not exists mbus4_store.made (
  signature text collate "C" primary key, -- post_q(hstore, ...), in both schemas
  queue     text collate "C" not null references mbus4_store.queue on delete cascade,
  consumer  text collate "C"
);

create sequence if not exists mbus4_store.seq;
create sequence if not exists mbus4_store.temporary as int;

-- A message, once for each consumer that shall get it: it is written once and deleted once, never updated. The key is the order of delivery.
create table if not exists mbus4_store.message (
  consumer      int not null,
  later         boolean not null,   -- it was posted with a delay; such ones are looked for by their time
  added         timestamp not null,
  delayed_until timestamp not null,
  id            bigint not null,
  iid           text collate "C" not null,
  expires       timestamp,
  waits         text[],             -- what must be gone before it is received
  headers       hstore,
  properties    hstore,
  data          hstore,
  primary key (consumer, later, added, delayed_until, id)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 1,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1, vacuum_truncate = false
);
-- Those whose iid was given by who posted them: of two who post the same one, the second waits for the first.
alter table mbus4_store.message add column if not exists given boolean not null default false;
create unique index if not exists message_given on mbus4_store.message (iid, consumer) where given;
create index if not exists message_iid on mbus4_store.message (iid);
create index if not exists message_due on mbus4_store.message (consumer, delayed_until) where later;
create index if not exists message_expires on mbus4_store.message (expires) where expires is not null;

-- Never holds a row. A selector is what could be the predicate of an index on it.
create table if not exists mbus4_store.t (like mbus4.qt_model);
