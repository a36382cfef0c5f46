-- Triggers copy what is posted to one queue into another; a copy is a message of its own, with an iid of its own.

create or replace function mbus4_store.remove_trigger(g mbus4_store.trigger) returns void language plpgsql as $$
begin
  delete from mbus4_store.trigger x where x.id = g.id;
  perform mbus4_store.respread(g.src, false);
  if g.selector is not null then
    execute format('drop function mbus4_store.%I', 'passes$' || g.id);
  end if;
end $$;

-- make_trigger has no look at rights.
create or replace function mbus4_store.make_trigger(from_ text, to_ text, chosen text) returns void language plpgsql as $$
declare
  id int;
begin
  if from_ = to_ or exists (
      with recursive reached(q) as (
        select to_ collate "C" union select g.dst from reached r join mbus4_store.trigger g on g.src = r.q)
      select from reached where q = from_) then
    raise exception 'Loop detected';
  end if;
  if chosen is not null then
    begin
      perform mbus4_store.check_selector(chosen);
    exception when syntax_error_or_access_rule_violation then
      raise exception 'Syntax error in selector:%', chosen;
    end;
  end if;
  insert into mbus4_store.trigger as g (src, dst, selector) values (from_, to_, chosen) returning g.id into id;
  if chosen is not null then
    perform mbus4_store.make_selector('passes$' || id, chosen);
  end if;
  perform mbus4_store.respread(from_, false);
end $$;

create or replace function mbus4_store.notice_missing(kind text, qname text) returns void language plpgsql as $$
begin
  if not exists (select from mbus4_store.queue q where q.name = qname) then
    raise notice 'WARNING: % queue (%) does not exists (yet?)', kind, qname;
  end if;
end $$;

create or replace function mbus4.create_trigger(src text, dst text, selector text default null) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  chosen text := mbus4_store.normal(selector);
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  perform mbus4_store.notice_missing('source', src);
  perform mbus4_store.notice_missing('destination', dst);
  if exists (select from mbus4_store.trigger g where g.src = create_trigger.src and g.dst = create_trigger.dst) then
    if exists (select from mbus4_store.trigger g
        where g.src = create_trigger.src and g.dst = create_trigger.dst and g.selector is not distinct from chosen) then
      return;
    end if;
    raise exception 'Trigger from % to % with a different selector already exists!', src, dst;
  end if;
  perform mbus4_store.make_trigger(src, dst, chosen);
end $$;

create or replace function mbus4.drop_trigger(src text, dst text) returns void
language plpgsql security definer set search_path = pg_catalog, @hstore@, pg_temp as $$
declare
  g mbus4_store.trigger;
begin
  perform mbus4_store.only_owner();
  perform mbus4_store.definitions();
  select * into g from mbus4_store.trigger x where x.src = drop_trigger.src and x.dst = drop_trigger.dst;
  if found then
    perform mbus4_store.remove_trigger(g);
  end if;
end $$;
