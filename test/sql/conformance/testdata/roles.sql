-- The roles model.
select mbus4.create_queue('guarded', 8, true);
--> create_queue
-->
select mbus4.create_queue(qname := 'also', consumers_cnt := 1, is_roles_security_model := true);
--> create_queue
-->
select mbus4.create_consumer('guarded', 'second', null);
--> create_consumer
-->
select qname, is_roles_security_model from mbus4.queue order by qname;
--> qname | is_roles_security_model
--> also | t
--> guarded | t
select mbus4.post('guarded', 'n=>1') is not null as posted;
--> posted
--> t
select mbus4.post('guarded', 'n=>2') is not null as posted;
--> posted
--> t
select mbus4.post('guarded', 'n=>3') is not null as posted;
--> posted
--> t
-- session app as app
select mbus4.post('guarded', 'n=>4');
--> ERROR P0001: Access denied
select mbus4.post_guarded('n=>4');
--> ERROR P0001: Access denied
select * from mbus4.consume('guarded');
--> ERROR P0001: Access denied
select * from mbus4.consume_guarded_by_default();
--> ERROR P0001: Access denied
select * from mbus4.consumen_guarded_by_second(1);
--> ERROR P0001: Access denied
select mbus4.take_from_guarded_by_default('guarded.1');
--> ERROR P0001: Access denied
-- session a
grant mbus_roles_post_guarded to app;
--> GRANT ROLE
-- session app
select mbus4.post('guarded', 'n=>5') is not null as posted;
--> posted
--> t
select mbus4.post_guarded('n=>6') is not null as posted;
--> posted
--> t
select * from mbus4.consume('guarded');
--> ERROR P0001: Access denied
select mbus4.post('also', 'n=>1');
--> ERROR P0001: Access denied
-- session a
grant mbus_roles_consume_guarded_by_default to app;
--> GRANT ROLE
-- session app
select data from mbus4.consume('guarded');
--> data
--> "n"=>"1"
select data from mbus4.consume_guarded_by_default();
--> data
--> "n"=>"2"
select data from mbus4.consume('guarded', 'second');
--> ERROR P0001: Access denied
-- session a
grant mbus_roles_consume_guarded_by_second to app, other;
--> GRANT ROLE
revoke mbus_roles_post_guarded from app;
--> REVOKE ROLE
-- session app
select data from mbus4.consume('guarded', 'second');
--> data
--> "n"=>"1"
select mbus4.post('guarded', 'n=>7');
--> ERROR P0001: Access denied
-- session other as other
select data from mbus4.consumen_guarded_by_second(1);
--> data
--> "n"=>"2"
select data from mbus4.consume('guarded');
--> ERROR P0001: Access denied
-- the superuser may
-- session a
select data from mbus4.consume('guarded');
--> data
--> "n"=>"3"
-- a role goes with its queue
select mbus4.drop_consumer('second', 'guarded');
--> drop_consumer
-->
grant mbus_roles_consume_guarded_by_second to app;
--> ERROR 42704: role "mbus_roles_consume_guarded_by_second" does not exist
select mbus4.drop_queue('guarded');
--> drop_queue
-->
grant mbus_roles_post_guarded to app;
--> ERROR 42704: role "mbus_roles_post_guarded" does not exist
grant mbus_roles_post_also to nobody_known;
--> ERROR 42704: role "nobody_known" does not exist
