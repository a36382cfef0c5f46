-- The tables. markup holds what is asked and decided; semaphore holds the functions, the events, and how far each semaphore has come.
-- What of markup is there already, made by hand say, is taken over with all that is in it.

create schema if not exists markup;
create schema if not exists semaphore;

create table if not exists semaphore.version (
  version   int primary key,
  installed timestamptz not null default now()
);

create table if not exists markup.semaphore (
  id          serial primary key,
  key         text not null,
  active      int not null default 1000, -- how many tasks may run
  try_release int not null default 900   -- how many of them, counted from the last, may be asked to give way
);
create unique index if not exists ix_semaphore on markup.semaphore (key);

do $$
begin
  if to_regtype('markup.semaphore_status') is null then
    create type markup.semaphore_status as enum ('WAIT', 'ACQUIRED', 'TRY_RELEASE');
  end if;
  if to_regclass('markup.semaphore_task') is null then
    create table markup.semaphore_task (
      semaphore_id int not null references markup.semaphore (id),
      task_id      bigint not null,
      priority     double precision not null,
      status       markup.semaphore_status not null default 'WAIT',
      enqueued     timestamptz not null default now(),
      primary key (semaphore_id, task_id)
    );
    if to_regclass('markup.task') is not null then
      alter table markup.semaphore_task add foreign key (task_id) references markup.task (id);
    end if;
  end if;
end $$;

-- One index for those that wait and one for those that run, each with the whole order of the rule: so neither the other half nor many tasks of one
-- priority are read to find the first or the last.
do $$
declare
  tasks constant text := 'on markup.semaphore_task (semaphore_id, priority desc, enqueued, task_id)';
  x record;
begin
  for x in
    select name, condition, to_regclass('markup.' || name) as oid
    from (values ('ix_semaphore_task_wait', $i$status = 'WAIT'$i$), ('ix_semaphore_task_active', $i$status in ('ACQUIRED', 'TRY_RELEASE')$i$)) v (name, condition)
  loop
    if x.oid is not null and (select i.indnkeyatts < 4 from pg_index i where i.indexrelid = x.oid) then
      execute format('drop index markup.%I', x.name);
    end if;
    execute format('create index if not exists %I %s where %s', x.name, tasks, x.condition);
  end loop;
end $$;

-- How far a semaphore has come. Each change updates its row, even if no transition follows.
create table if not exists semaphore.progress (
  semaphore_id int primary key references markup.semaphore (id) on delete cascade,
  transitions  bigint not null default 0,
  came         timestamptz not null default '-infinity' -- when the last task came
);

create table if not exists semaphore.event (
  id       bigint generated always as identity primary key,
  key      text not null,
  task     bigint not null,
  event    text not null,            -- Acquired, TryRelease, Retained, Deleted
  status   markup.semaphore_status,  -- after it; null: the task is gone
  priority double precision not null,
  seq      bigint not null,          -- the number of the transition in its semaphore
  at       timestamptz not null default clock_timestamp()
);
