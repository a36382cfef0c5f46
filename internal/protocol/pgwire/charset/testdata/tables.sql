create function pg_temp.decoded(b bytea, e name) returns int immutable language plpgsql as
  $$ begin return ascii(convert_from(b, e)); exception when others then return null; end $$;
create function pg_temp.encoded(r int, e name) returns text immutable language plpgsql as
  $$ begin return encode(convert_to(chr(r), e), 'hex'); exception when others then return null; end $$;
