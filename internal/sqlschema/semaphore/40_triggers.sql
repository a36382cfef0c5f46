-- Statements on markup.semaphore do what the functions do: values are checked, and who may run is decided at once.

create or replace function semaphore.before_change() returns trigger language plpgsql as $$
begin
  if new.key is null then
    raise exception 'key must not be NULL' using errcode = 'null_value_not_allowed';
  elsif octet_length(new.key) not between 1 and 200 then -- it is part of a notification, which has a limit
    raise exception 'key must have 1 to 200 bytes' using errcode = 'invalid_parameter_value';
  elsif new.active < 0 then
    raise exception 'active must not be negative' using errcode = 'invalid_parameter_value';
  elsif new.try_release < 0 then
    raise exception 'try_release must not be negative' using errcode = 'invalid_parameter_value';
  end if;
  return new;
end $$;

create or replace function semaphore.after_update() returns trigger language plpgsql as $$
begin
  perform semaphore.mark(new.id);
  perform semaphore.settle(new.id);
  return null;
end $$;

create or replace trigger semaphore_before_change before insert or update on markup.semaphore
  for each row execute function semaphore.before_change();

create or replace trigger semaphore_after_update after update of active, try_release on markup.semaphore
  for each row when ((old.active, old.try_release) is distinct from (new.active, new.try_release)) execute function semaphore.after_update();
