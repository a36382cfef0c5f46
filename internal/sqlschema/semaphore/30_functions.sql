-- What people call.

-- get_or_create returns a semaphore, which it makes if there is none; one that is there stays as it is.
create or replace function semaphore.get_or_create(key text, active int default null, try_release int default null) returns markup.semaphore language plpgsql as $$
declare
  s markup.semaphore;
begin
  loop
    select * into s from markup.semaphore m where m.key = get_or_create.key;
    exit when found;
    insert into markup.semaphore (key, active, try_release)
      values (get_or_create.key, coalesce(get_or_create.active, 1000), coalesce(get_or_create.try_release, 900))
      on conflict do nothing returning * into s;
    exit when found;
  end loop;
  return s;
end $$;

-- update changes how many may run and how many may be asked; null leaves a value as it is.
create or replace function semaphore.update(key text, active int default null, try_release int default null) returns void language plpgsql as $$
declare
  s markup.semaphore := semaphore.turn(key);
begin
  update markup.semaphore m set active = coalesce(update.active, m.active), try_release = coalesce(update.try_release, m.try_release) where m.id = s.id;
end $$;

-- drop takes a semaphore away with all its tasks, each of which gets the event Deleted, and tells whether there was one. DELETE from markup.semaphore is
-- refused while there are tasks.
create or replace function semaphore.drop(key text) returns boolean language plpgsql as $$
declare
  s     markup.semaphore;
  tasks bigint[];
begin
  begin
    s := semaphore.turn(key);
  exception when no_data_found then
    return false;
  end;
  tasks := array(select t.task_id from markup.semaphore_task t where t.semaphore_id = s.id order by t.priority desc, t.enqueued, t.task_id);
  perform semaphore.told(s, tasks, 'Deleted');
  delete from markup.semaphore_task t where t.semaphore_id = s.id;
  delete from markup.semaphore m where m.id = s.id;
  return true;
end $$;

-- enqueue puts tasks into the line, or changes their priority, and returns their status. The rule is asked when all are there.
create or replace function semaphore.enqueue_all(key text, tasks bigint[], priorities double precision[]) returns setof markup.semaphore_status language plpgsql as $$
declare
  s    markup.semaphore := semaphore.turn(key);
  many constant int := cardinality(tasks);
  came timestamptz; -- the first of them
begin
  if array_position(tasks, null) is not null then
    raise exception 'task must not be NULL' using errcode = 'null_value_not_allowed';
  elsif array_position(priorities, null) is not null then
    raise exception 'priority must not be NULL' using errcode = 'null_value_not_allowed';
  elsif many is distinct from cardinality(priorities) then
    raise exception 'as many priorities as tasks are needed' using errcode = 'invalid_parameter_value';
  elsif exists (select from unnest(priorities) p where p in ('nan', 'infinity', '-infinity')) then
    raise exception 'priority must be a finite number' using errcode = 'invalid_parameter_value';
  end if;
  -- Each comes a microsecond after the one before, so that equals stand in the order in which they are given, whatever the clock does.
  update semaphore.progress p set came = greatest(clock_timestamp(), p.came + interval '1 microsecond') + many * interval '1 microsecond'
    where p.semaphore_id = s.id returning p.came - many * interval '1 microsecond' into came;
  -- Of one given twice the last priority counts; + 0 makes 0 of -0.
  insert into markup.semaphore_task (semaphore_id, task_id, priority, enqueued)
    select s.id, u.task, (array_agg(u.priority + 0 order by u.n desc))[1], came + min(u.n) * interval '1 microsecond'
    from unnest(tasks, priorities) with ordinality u (task, priority, n) group by u.task
    on conflict (semaphore_id, task_id) do update set priority = excluded.priority;
  perform semaphore.settle(s.id);
  return query select t.status from unnest(tasks) with ordinality u (task, n)
    join markup.semaphore_task t on t.semaphore_id = s.id and t.task_id = u.task order by u.n;
end $$;

create or replace function semaphore.enqueue(key text, task bigint, priority double precision) returns markup.semaphore_status language sql as $$
  select * from semaphore.enqueue_all($1, array[$2], array[$3])
$$;

-- release takes tasks out of the semaphore, running or not, and returns how many were there.
create or replace function semaphore.release_all(key text, tasks bigint[]) returns int language plpgsql as $$
declare
  s    markup.semaphore := semaphore.turn(key);
  gone int;
begin
  if array_position(tasks, null) is not null then
    raise exception 'task must not be NULL' using errcode = 'null_value_not_allowed';
  end if;
  delete from markup.semaphore_task t where t.semaphore_id = s.id and t.task_id = any (release_all.tasks);
  get diagnostics gone = row_count;
  if gone > 0 then
    perform semaphore.settle(s.id);
  end if;
  return gone;
end $$;

create or replace function semaphore.release(key text, task bigint) returns boolean language sql as $$
  select semaphore.release_all($1, array[$2]) > 0
$$;

-- status is that of a task; null: it is not there.
create or replace function semaphore.status(key text, task bigint) returns markup.semaphore_status language plpgsql stable as $$
declare
  s constant int := semaphore.id_of(key);
begin
  if status.task is null then
    raise exception 'task must not be NULL' using errcode = 'null_value_not_allowed';
  end if;
  return (select t.status from markup.semaphore_task t where t.semaphore_id = s and t.task_id = status.task);
end $$;

-- tasks are those of a semaphore in their order, all or with one status.
create or replace function semaphore.tasks(key text, status markup.semaphore_status default null) returns setof markup.semaphore_task language plpgsql stable as $$
declare
  s constant int := semaphore.id_of(key);
begin
  return query select * from markup.semaphore_task t where t.semaphore_id = s and (tasks.status is null or t.status = tasks.status)
    order by t.priority desc, t.enqueued, t.task_id;
end $$;

create or replace function semaphore.id_of(key text) returns int language plpgsql stable as $$
declare
  id int;
begin
  if id_of.key is null then
    raise exception 'key must not be NULL' using errcode = 'null_value_not_allowed';
  end if;
  select m.id into id from markup.semaphore m where m.key = id_of.key;
  if not found then
    raise exception 'semaphore "%" does not exist', id_of.key using errcode = 'no_data_found';
  end if;
  return id;
end $$;

-- events takes the next events, at most so many: when the transaction ends well they are gone. Of several that take at one time each gets others.
create or replace function semaphore.events(most int default 1000) returns setof semaphore.event language sql as $$
  with taken as (
    delete from semaphore.event where id in (select e.id from semaphore.event e order by e.id limit $1 for update skip locked) returning *
  )
  select * from taken order by id
$$;
