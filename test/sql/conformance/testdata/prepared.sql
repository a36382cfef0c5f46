-- mbus4 in prepared statements and cursors.
select mbus4.create_queue('q', 8);
--> create_queue
-->
prepare post as select mbus4.post($1, $2);
--> PREPARE
execute post ('q', 'n=>1');
--> post
--> q.<1>
execute post ('q', 'n=>2');
--> post
--> q.<2>
execute post ('none', 'n=>3');
--> ERROR P0001: Unknown queue:none
prepare post_q (hstore, hstore) as select mbus4.post_q($1, properties => $2);
--> PREPARE
execute post_q ('n=>4', 'p=>4');
--> post_q
--> q.<3>
prepare get (text) as select data, properties from mbus4.consume($1);
--> PREPARE
execute get ('q');
--> data | properties
--> "n"=>"1" | NULL
execute get ('none');
--> ERROR P0001: Queue none does not exists
execute get ('q');
--> data | properties
--> "n"=>"2" | NULL
prepare many (int) as select data->'n' as n from mbus4.consumen_q_by_default($1);
--> PREPARE
execute many (5);
--> n
--> 4
execute many (5);
--> n
--> (0 rows)
-- a statement outlives its queue only as far as it goes
prepare gone as select data from mbus4.consume_q_by_default();
--> PREPARE
execute gone;
--> data
--> (0 rows)
select mbus4.drop_queue('q');
--> drop_queue
-->
execute gone;
--> ERROR 42883: function mbus4.consume_q_by_default() does not exist
execute post ('q', 'n=>1');
--> ERROR P0001: Unknown queue:q
select mbus4.create_queue('q', 8);
--> create_queue
-->
execute post ('q', 'n=>5') ;
--> post
--> q.<4>
execute get ('q');
--> data | properties
--> "n"=>"5" | NULL
execute gone;
--> data
--> (0 rows)
-- cursors
select count(mbus4.post('q', hstore('n', n::text))) from generate_series(1, 4) n;
--> count
--> 4
begin;
--> BEGIN
declare c cursor for select data->'n' as n from mbus4.consumen_q_by_default(3);
--> DECLARE CURSOR
fetch 1 from c;
--> n
--> 1
fetch all from c;
--> n
--> 2
--> 3
close c;
--> CLOSE CURSOR
rollback;
--> ROLLBACK
select data->'n' as n from mbus4.messages('q');
--> n
--> 1
--> 2
--> 3
--> 4
begin;
--> BEGIN
declare c no scroll cursor for select data from mbus4.consume('q');
--> DECLARE CURSOR
fetch all from c;
--> data
--> "n"=>"1"
commit;
--> COMMIT
select data->'n' as n from mbus4.messages('q');
--> n
--> 2
--> 3
--> 4
-- statements that touch several queues
select mbus4.create_queue('r', 8);
--> create_queue
-->
select (select data from mbus4.consume('q')) as q, (select data from mbus4.consume('r')) as r;
--> q | r
--> "n"=>"2" | NULL
select q.data || r.data as joined from mbus4.consume('q') q left join mbus4.consume('r') r on true;
--> joined
--> NULL
select mbus4.post('r', c.data || 'seen=>yes') is not null as moved from mbus4.consume('q') c;
--> moved
--> t
select data from mbus4.consume('r');
--> data
--> "n"=>"4", "seen"=>"yes"
select count(*) from (select * from mbus4.consume('q') union all select * from mbus4.consume('r')) as both;
--> ERROR 42601: syntax error at or near "both"
