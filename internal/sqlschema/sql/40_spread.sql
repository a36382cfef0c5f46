-- spread$q(message): the consumers of q that a message posted to it is for. copies$q(message): the queues to which q's triggers copy it.

create or replace function mbus4_store.make_spread(qname text) returns void language plpgsql as $$
declare
  own    text;
  others text;
  copies text;
  alone  int; -- the only consumer, if it takes everything
begin
  select string_agg(c.id::text, ', ' order by c.id) filter (where c.selector is null),
         string_agg(format('  if mbus4_store.%I(t) then found_ := found_ || %s; end if;', 'selects$' || c.id, c.id), E'\n' order by c.id)
           filter (where c.selector is not null),
         case when count(*) = 1 and count(c.selector) = 0 then min(c.id) end
    into own, others, alone from mbus4_store.consumer c where c.queue = qname;
  select string_agg(case when g.selector is null then format('  found_ := found_ || %L::text;', g.dst)
           else format('  if mbus4_store.%I(t) then found_ := found_ || %L::text; end if;', 'passes$' || g.id, g.dst) end,
           E'\n' order by g.dst)
    into copies from mbus4_store.trigger g join mbus4_store.queue d on d.name = g.dst where g.src = qname;
  execute format('create or replace function mbus4_store.%I(t mbus4.qt_model) returns int[] language plpgsql as %L', 'spread$' || qname, format($f$
declare
  found_ int[] := array[%s]::int[];
begin
%s
  return found_;
end $f$, own, others));
  execute format('create or replace function mbus4_store.%I(t mbus4.qt_model) returns text[] language plpgsql as %L', 'copies$' || qname, format($f$
declare
  found_ text[] := '{}';
begin
%s
  return found_;
end $f$, copies));
  if copies is not null then
    alone := null;
  end if;
  update mbus4_store.queue q set plain = alone where q.name = qname and q.plain is distinct from alone;
end $$;

-- spread is called where the queue is not known beforehand.
create or replace function mbus4_store.spread(qname text, t mbus4.qt_model) returns int[] language plpgsql as $$
declare
  result int[];
begin
  execute format('select mbus4_store.%I($1)', 'spread$' || qname) into result using t;
  return result;
end $$;

-- copies is as spread is.
create or replace function mbus4_store.copies(qname text, t mbus4.qt_model) returns text[] language plpgsql as $$
declare
  result text[];
begin
  execute format('select mbus4_store.%I($1)', 'copies$' || qname) into result using t;
  return result;
end $$;
