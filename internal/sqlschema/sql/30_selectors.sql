-- Selectors: conditions over a message with the alias t.

create or replace function mbus4_store.normal(selector text) returns text language sql immutable as $$
  select case when selector !~ '^\s*$' then selector end
$$;

-- check_selector raises what is wrong with a selector. It must be one expression (EXPLAIN in a cursor takes no second statement and runs nothing,
-- CREATE INDEX takes no second clause), boolean, without subqueries, and immutable.
create or replace function mbus4_store.check_selector(selector text) returns void language plpgsql as $$
declare
  r record;
begin
  for r in execute 'explain select from mbus4_store.t where (' || selector || E'\n)' loop
    null;
  end loop;
  if selector like '%)%' then -- it is one expression as it stands, too: "a) or (b" is none
    for r in execute 'explain select from mbus4_store.t where ' || selector loop
      null;
    end loop;
  end if;
  execute 'create index on mbus4_store.t (id) where (' || selector || E'\n)';
  raise exception using errcode = 'MB001';
exception when sqlstate 'MB001' then null; -- the index is gone with the sub-transaction
end $$;

-- make_selector makes the function name(message): whether the selector is true. A message that it fails on is not selected.
create or replace function mbus4_store.make_selector(name text, selector text) returns void language plpgsql as $$
begin
  execute format('create or replace function mbus4_store.%I(mbus4.qt_model) returns boolean language plpgsql as %L', name, format($f$
begin
  return (select (%s
  ) from (select ($1).*) as t);
exception when others then
  return false;
end $f$, selector));
end $$;
