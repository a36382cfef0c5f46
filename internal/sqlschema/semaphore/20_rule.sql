-- The rule: who may go on.
--
-- Tasks stand in the order of their priority, the larger first, and of equals the one that came earlier. While fewer than active run, the first that
-- waits is acquired. Of the running that are not among the first active of all, the last ones, at most try_release, are asked to give way; one that is
-- asked and is no longer among them is retained.

-- turn waits until nobody else changes the semaphore, and keeps others out until the transaction ends.
create or replace function semaphore.turn(key text) returns markup.semaphore language plpgsql as $$
declare
  s markup.semaphore;
begin
  if turn.key is null then
    raise exception 'key must not be NULL' using errcode = 'null_value_not_allowed';
  end if;
  select * into s from markup.semaphore m where m.key = turn.key for no key update;
  if not found then
    raise exception 'semaphore "%" does not exist', turn.key using errcode = 'no_data_found';
  end if;
  perform semaphore.mark(s.id);
  return s;
end $$;

-- mark writes the semaphore's row of progress. A transaction that works on an older snapshot (REPEATABLE READ, SERIALIZABLE) fails here with a
-- serialization failure: it would decide by what is no longer so.
create or replace function semaphore.mark(id int) returns void language sql as $$
  insert into semaphore.progress (semaphore_id) values ($1)
  on conflict (semaphore_id) do update set transitions = progress.transitions
$$;

-- told writes the events of tasks, in their order, and numbers them.
create or replace function semaphore.told(s markup.semaphore, tasks bigint[], event text) returns void language sql as $$
  update semaphore.progress p set transitions = p.transitions + cardinality(tasks) where p.semaphore_id = s.id;
  with made as (
    insert into semaphore.event (key, task, event, status, priority, seq)
    select s.key, t.task_id, $3, case when $3 <> 'Deleted' then t.status end, t.priority, p.transitions - cardinality(tasks) + u.n
    from unnest(tasks) with ordinality u (task, n)
    join markup.semaphore_task t on t.semaphore_id = s.id and t.task_id = u.task
    join semaphore.progress p on p.semaphore_id = s.id
    order by u.n
    returning *
  )
  select pg_notify('semaphore', json_build_object('key', m.key, 'task', m.task::text, 'event', m.event, 'status', coalesce(m.status::text, ''),
    'priority', m.priority, 'seq', m.seq)::text) from made m order by m.seq;
$$;

create or replace function semaphore.set_status(s markup.semaphore, tasks bigint[], status markup.semaphore_status, event text) returns void language plpgsql as $$
begin
  if cardinality(tasks) > 0 then
    update markup.semaphore_task t set status = set_status.status where t.semaphore_id = s.id and t.task_id = any (tasks);
    perform semaphore.told(s, tasks, event);
  end if;
end $$;

-- first and last are the ends of the tasks with a status.
create or replace function semaphore.first(id int, status markup.semaphore_status) returns markup.semaphore_task language sql stable as $$
  select t from markup.semaphore_task t where t.semaphore_id = $1 and t.status = $2 and t.status in ('ACQUIRED', 'TRY_RELEASE')
  order by t.priority desc, t.enqueued, t.task_id limit 1
$$;

create or replace function semaphore.last(id int, status markup.semaphore_status) returns markup.semaphore_task language sql stable as $$
  select t from markup.semaphore_task t where t.semaphore_id = $1 and t.status = $2 and t.status in ('ACQUIRED', 'TRY_RELEASE')
  order by t.priority, t.enqueued desc, t.task_id desc limit 1
$$;

create or replace function semaphore.stands_before(a markup.semaphore_task, b markup.semaphore_task) returns boolean language sql immutable as $$
  select (-a.priority, a.enqueued, a.task_id) < (-b.priority, b.enqueued, b.task_id)
$$;

-- outranked is how many of the running are not among the first active of all, but no more than most. extra is how many too many run: they are. The
-- others are as many as waiting tasks stand before the running that they would replace: the first that waits before the last that runs, the second before
-- the second to last, and so on. No more of them are read than it takes.
create or replace function semaphore.outranked(id int, extra int, most int) returns int language plpgsql stable as $$
declare
  waits cursor for select t.* from markup.semaphore_task t where t.semaphore_id = outranked.id and t.status = 'WAIT'
    order by t.priority desc, t.enqueued, t.task_id limit most;
  runs cursor for select t.* from markup.semaphore_task t where t.semaphore_id = outranked.id and t.status in ('ACQUIRED', 'TRY_RELEASE')
    order by t.priority, t.enqueued desc, t.task_id desc limit most offset extra;
  waiting markup.semaphore_task;
  running markup.semaphore_task;
  k       int := extra;
begin
  open waits;
  open runs;
  while k < most loop
    fetch waits into waiting;
    exit when not found;
    fetch runs into running;
    exit when not found or not semaphore.stands_before(waiting, running);
    k := k + 1;
  end loop;
  close waits;
  close runs;
  return least(k, most);
end $$;

-- settle makes the transitions that the rule wants. Who calls it has the turn.
create or replace function semaphore.settle(id int) returns void language plpgsql as $$
declare
  s       markup.semaphore;
  running int;
  asked   int; -- of them, to give way
  wanted  int; -- how many should be
  chosen  bigint[];
  best    markup.semaphore_task;
  lowest  markup.semaphore_task;
begin
  select * into s from markup.semaphore m where m.id = settle.id;
  select count(*), count(*) filter (where t.status = 'TRY_RELEASE') into running, asked
    from markup.semaphore_task t where t.semaphore_id = s.id and t.status in ('ACQUIRED', 'TRY_RELEASE');
  if running < s.active then
    chosen := array(select t.task_id from markup.semaphore_task t where t.semaphore_id = s.id and t.status = 'WAIT'
      order by t.priority desc, t.enqueued, t.task_id limit s.active - running);
    perform semaphore.set_status(s, chosen, 'ACQUIRED', 'Acquired');
    running := running + cardinality(chosen);
  end if;
  wanted := case when running < s.active then 0 else semaphore.outranked(s.id, running - s.active, s.try_release) end;
  while asked > 0 or wanted > 0 loop
    best := semaphore.first(s.id, 'TRY_RELEASE');
    lowest := semaphore.last(s.id, 'ACQUIRED');
    if asked > wanted or asked = wanted and asked > 0 and semaphore.stands_before(best, lowest) then
      perform semaphore.set_status(s, array[best.task_id], 'ACQUIRED', 'Retained');
      asked := asked - 1;
    elsif asked < wanted then
      perform semaphore.set_status(s, array[lowest.task_id], 'TRY_RELEASE', 'TryRelease');
      asked := asked + 1;
    else
      exit;
    end if;
  end loop;
end $$;
