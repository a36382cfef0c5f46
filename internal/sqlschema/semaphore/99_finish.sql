-- What was there before the functions, rows of tables that were taken over, is settled by the rule.

do $$
declare
  k text;
begin
  for k in select m.key from markup.semaphore m order by m.id loop
    perform semaphore.settle((semaphore.turn(k)).id);
  end loop;
end $$;

insert into semaphore.version (version) values (1) on conflict do nothing;
