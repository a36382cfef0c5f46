-- Who may do what. All functions of mbus4 run as the owner of the schema and ask for the rights of the session's user first.

create or replace function mbus4_store.only_owner() returns void language plpgsql as $$
begin
  if not pg_has_role(session_user, current_user, 'usage') then
    raise exception 'Access denied';
  end if;
end $$;

create or replace function mbus4_store.post_role(qname text) returns text language sql stable as $$
  select 'mbus_' || current_database() || '_post_' || qname
$$;

create or replace function mbus4_store.consume_role(qname text, cname text) returns text language sql stable as $$
  select 'mbus_' || current_database() || '_consume_' || qname || '_by_' || cname
$$;

-- has_role is false for a role that does not exist.
create or replace function mbus4_store.has_role(role text) returns boolean language sql stable as $$
  select coalesce((select pg_has_role(session_user, r.oid, 'usage') from pg_roles r where r.rolname = role::name), false)
$$;

create or replace function mbus4_store.make_role(role text) returns void language plpgsql as $$
begin
  execute format('create role %I', role);
exception
  when duplicate_object then null;
  when insufficient_privilege then
    raise exception 'Cannot create role %', role using errcode = 'insufficient_privilege',
      hint = format('A queue with the roles model needs CREATEROLE: ALTER ROLE %I CREATEROLE', current_user);
end $$;

create or replace function mbus4_store.drop_role(role text) returns void language plpgsql as $$
begin
  execute format('drop role if exists %I', role);
exception when dependent_objects_still_exist then null; -- somebody gave it rights of his own
end $$;
