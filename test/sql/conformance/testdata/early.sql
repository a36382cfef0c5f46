-- A message that waits for one which is posted after it.
select mbus4.create_queue('q', 8);
--> create_queue
-->
-- keep first
select mbus4.get_iid('q');
--> get_iid
--> q.<1>
select mbus4.post('q', 'n=>2', hstore('consume_after', array[:first]::text));
--> post
--> q.<2>
select mbus4.post('q', 'n=>1', iid := :first);
--> post
--> q.<1>
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
select data, headers->'consume_after' = array[:first]::text as named from mbus4.consume('q');
--> data | named
--> "n"=>"2" | t
