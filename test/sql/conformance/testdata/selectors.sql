-- Selectors: each subscriber shows which messages it was given.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.create_consumer('q', 's01', $sel$(t.properties->'STATE')='DONE'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's02', $sel$t.properties->'STATE' = 'DONE' or t.data ? 'urgent'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's03', $sel$not exist(t.data,'k') or (t.data->'k')<>'N'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's04', $sel$t.data ? 'k'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's05', $sel$not (t.data ? 'k')$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's06', $sel$t.data ?& array['k','n']$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's07', $sel$t.data ?| array['urgent','x']$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's08', $sel$t.data @> 'k=>N'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's09', $sel$t.data @> 'k=>N'::hstore and t.properties is not null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's10', $sel$'k=>N,n=>2' <@ t.data$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's11', $sel$t.data <@ 'n=>1, k=>Y'::hstore$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's12', $sel$defined(t.data, 'k')$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's13', $sel$exist(t.data, 'nothing')$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's14', $sel$t.data->'nothing' is null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's15', $sel$t.data->'k' is not null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's16', $sel$t.data->'k' = null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's17', $sel$t.data->'k' is distinct from 'N'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's18', $sel$(t.data->'n')::int > 3$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's19', $sel$(t.data->'n')::int between 2 and 4$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's20', $sel$(t.data->'n')::int in (1, 3, 5)$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's21', $sel$(t.data->'n')::int not in (1, 3, 5)$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's22', $sel$(t.data->'n')::int % 2 = 0$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's23', $sel$(t.data->'n')::numeric * 1.5 > 4.5$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's24', $sel$(t.data->'n')::int = any(array[2,3])$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's25', $sel$t.data->'n' like '1%'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's26', $sel$t.data->'name' like 'A%'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's27', $sel$t.data->'name' not like '%a'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's28', $sel$t.data->'name' ilike 'an_'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's29', $sel$t.data->'name' ~ '^[AB]'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's30', $sel$t.data->'name' ~* '^b'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's31', $sel$t.data->'name' !~ 'n'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's32', $sel$upper(t.data->'name') = 'BOB'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's33', $sel$length(t.data->'name') > 3$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's34', $sel$substr(t.data->'name', 1, 1) || '!' = 'A!'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's35', $sel$coalesce(t.properties->'STATE', 'NONE') = 'NONE'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's36', $sel$case when t.data ? 'k' then t.data->'k' = 'Y' else false end$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's37', $sel$(t.properties || t.data)->'n' = '4'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's38', $sel$t.properties is null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's39', $sel$t.headers->'kind' = 'special'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's40', $sel$t.headers->'source_db' = 'selectors'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's41', $sel$t.data - 'n'::text = 'name=>Ann'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's42', $sel$akeys(t.data) @> array['k']$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's43', $sel$hstore_to_json(t.data)->>'name' = 'Eve'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's44', $sel$strpos(t.data->'name', 'v') = 2$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's45', $sel$t.iid like 'q.%'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's46', $sel$t.expires is not null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's47', $sel$t.delayed_until < t.added$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's48', $sel$t.delayed_until > '2020-01-01'::timestamp$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's49', $sel$true$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's50', $sel$false$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's51', $sel$null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's52', $sel$1=1$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's53', $sel$data->'n' = '3'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's54', $sel$properties->'STATE' = 'DONE' and data ? 'k'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's55', $sel$(t.data->'name') > 'Bob'$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's56', $sel$nullif(t.data->'k', 'N') is null$sel$);
--> create_consumer
-->
select mbus4.create_consumer('q', 's57', $sel$greatest(t.data->'n', '3') = '3'$sel$);
--> create_consumer
-->
select mbus4.post('q', 'n=>1, k=>Y', null, 'STATE=>DONE');
--> post
--> q.<1>
select mbus4.post('q', 'n=>2, k=>N', null, 'STATE=>BEGUN');
--> post
--> q.<2>
select mbus4.post('q', 'n=>3, name=>Ann', 'kind=>special', null, null, '2100-01-01');
--> post
--> q.<3>
select mbus4.post('q', 'n=>4, name=>Bob, urgent=>NULL', null, 'x=>1');
--> post
--> q.<4>
select mbus4.post('q', 'n=>5, name=>Eve, k=>NULL');
--> post
--> q.<5>
select mbus4.post('q', 'n=>6, name=>"Alexandra", k=>"N"', '', 'STATE=>NULL');
--> post
--> q.<6>
select mbus4.post('q', 'n=>no, name=>""');
--> post
--> q.<7>
-- (t.properties->'STATE')='DONE'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s01(100);
--> admits
--> 1
-- t.properties->'STATE' = 'DONE' or t.data ? 'urgent'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s02(100);
--> admits
--> 1 4
-- not exist(t.data,'k') or (t.data->'k')<>'N'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s03(100);
--> admits
--> 1 3 4 no
-- t.data ? 'k'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s04(100);
--> admits
--> 1 2 5 6
-- not (t.data ? 'k')
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s05(100);
--> admits
--> 3 4 no
-- t.data ?& array['k','n']
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s06(100);
--> admits
--> 1 2 5 6
-- t.data ?| array['urgent','x']
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s07(100);
--> admits
--> 4
-- t.data @> 'k=>N'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s08(100);
--> admits
--> 2 6
-- t.data @> 'k=>N'::hstore and t.properties is not null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s09(100);
--> admits
--> 2 6
-- 'k=>N,n=>2' <@ t.data
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s10(100);
--> admits
--> 2
-- t.data <@ 'n=>1, k=>Y'::hstore
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s11(100);
--> admits
--> 1
-- defined(t.data, 'k')
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s12(100);
--> admits
--> 1 2 6
-- exist(t.data, 'nothing')
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s13(100);
--> admits
--> -
-- t.data->'nothing' is null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s14(100);
--> admits
--> 1 2 3 4 5 6 no
-- t.data->'k' is not null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s15(100);
--> admits
--> 1 2 6
-- t.data->'k' = null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s16(100);
--> admits
--> -
-- t.data->'k' is distinct from 'N'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s17(100);
--> admits
--> 1 3 4 5 no
-- (t.data->'n')::int > 3
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s18(100);
--> admits
--> 4 5 6
-- (t.data->'n')::int between 2 and 4
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s19(100);
--> admits
--> 2 3 4
-- (t.data->'n')::int in (1, 3, 5)
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s20(100);
--> admits
--> 1 3 5
-- (t.data->'n')::int not in (1, 3, 5)
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s21(100);
--> admits
--> 2 4 6
-- (t.data->'n')::int % 2 = 0
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s22(100);
--> admits
--> 2 4 6
-- (t.data->'n')::numeric * 1.5 > 4.5
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s23(100);
--> admits
--> 4 5 6
-- (t.data->'n')::int = any(array[2,3])
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s24(100);
--> admits
--> 2 3
-- t.data->'n' like '1%'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s25(100);
--> admits
--> 1
-- t.data->'name' like 'A%'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s26(100);
--> admits
--> 3 6
-- t.data->'name' not like '%a'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s27(100);
--> admits
--> 3 4 5 no
-- t.data->'name' ilike 'an_'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s28(100);
--> admits
--> 3
-- t.data->'name' ~ '^[AB]'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s29(100);
--> admits
--> 3 4 6
-- t.data->'name' ~* '^b'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s30(100);
--> admits
--> 4
-- t.data->'name' !~ 'n'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s31(100);
--> admits
--> 4 5 no
-- upper(t.data->'name') = 'BOB'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s32(100);
--> admits
--> 4
-- length(t.data->'name') > 3
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s33(100);
--> admits
--> 6
-- substr(t.data->'name', 1, 1) || '!' = 'A!'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s34(100);
--> admits
--> 3 6
-- coalesce(t.properties->'STATE', 'NONE') = 'NONE'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s35(100);
--> admits
--> 3 4 5 6 no
-- case when t.data ? 'k' then t.data->'k' = 'Y' else false end
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s36(100);
--> admits
--> 1
-- (t.properties || t.data)->'n' = '4'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s37(100);
--> admits
--> 4
-- t.properties is null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s38(100);
--> admits
--> 3 5 no
-- t.headers->'kind' = 'special'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s39(100);
--> admits
--> 3
-- t.headers->'source_db' = 'selectors'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s40(100);
--> admits
--> 1 2 3 4 5 6 no
-- t.data - 'n'::text = 'name=>Ann'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s41(100);
--> admits
--> 3
-- akeys(t.data) @> array['k']
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s42(100);
--> admits
--> 1 2 5 6
-- hstore_to_json(t.data)->>'name' = 'Eve'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s43(100);
--> admits
--> 5
-- strpos(t.data->'name', 'v') = 2
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s44(100);
--> admits
--> 5
-- t.iid like 'q.%'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s45(100);
--> admits
--> 1 2 3 4 5 6 no
-- t.expires is not null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s46(100);
--> admits
--> 3
-- t.delayed_until < t.added
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s47(100);
--> admits
--> 1 2 3 4 5 6 no
-- t.delayed_until > '2020-01-01'::timestamp
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s48(100);
--> admits
--> 1 2 3 4 5 6 no
-- true
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s49(100);
--> admits
--> 1 2 3 4 5 6 no
-- false
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s50(100);
--> admits
--> -
-- null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s51(100);
--> admits
--> -
-- 1=1
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s52(100);
--> admits
--> 1 2 3 4 5 6 no
-- data->'n' = '3'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s53(100);
--> admits
--> 3
-- properties->'STATE' = 'DONE' and data ? 'k'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s54(100);
--> admits
--> 1
-- (t.data->'name') > 'Bob'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s55(100);
--> admits
--> 5
-- nullif(t.data->'k', 'N') is null
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s56(100);
--> admits
--> 2 3 4 5 6 no
-- greatest(t.data->'n', '3') = '3'
select coalesce(string_agg(data->'n', ' '), '-') as admits from mbus4.consumen_q_by_s57(100);
--> admits
--> 1 2 3
-- what is refused
select mbus4.create_consumer('q', 'bad', $sel$t.properties->'who' = current_user$sel$);
--> ERROR 42P17: functions in index predicate must be marked IMMUTABLE
select mbus4.create_consumer('q', 'bad', $sel$t.added < now()$sel$);
--> ERROR 42P17: functions in index predicate must be marked IMMUTABLE
select mbus4.create_consumer('q', 'bad', $sel$t.added < localtimestamp$sel$);
--> ERROR 42P17: functions in index predicate must be marked IMMUTABLE
select mbus4.create_consumer('q', 'bad', $sel$(t.properties->'n')::float8 < random()$sel$);
--> ERROR 42P17: functions in index predicate must be marked IMMUTABLE
select mbus4.create_consumer('q', 'bad', $sel$t.added::text = clock_timestamp()::text$sel$);
--> ERROR 42P17: functions in index predicate must be marked IMMUTABLE
select mbus4.create_consumer('q', 'bad', $sel$t.data->'a' = (select 'b')$sel$);
--> ERROR 0A000: cannot use subquery in index predicate
select mbus4.create_consumer('q', 'bad', $sel$t.data->'a'$sel$);
--> ERROR 42804: argument of WHERE must be type boolean, not type text
select mbus4.create_consumer('q', 'bad', $sel$1$sel$);
--> ERROR 42804: argument of WHERE must be type boolean, not type integer
select mbus4.create_consumer('q', 'bad', $sel$t.nothing = 1$sel$);
--> ERROR 42703: column t.nothing does not exist
select mbus4.create_consumer('q', 'bad', $sel$nothing = 1$sel$);
--> ERROR 42703: column "nothing" does not exist
select mbus4.create_consumer('q', 'bad', $sel$foo(t.data)$sel$);
--> ERROR 42883: function foo(hstore) does not exist
select mbus4.create_consumer('q', 'bad', $sel$t.data ->$sel$);
--> ERROR 42601: syntax error at or near ")"
select mbus4.create_consumer('q', 'bad', $sel$t.data->'a' = 'unfinished$sel$);
--> ERROR 42601: unterminated quoted string at or near "'unfinished\n)"
select mbus4.create_consumer('q', 'bad', $sel$(t.data ? 'a'$sel$);
--> ERROR 42601: syntax error at end of input
select mbus4.create_consumer('q', 'bad', $sel$t.data ? 'a') or (true$sel$);
--> ERROR 42601: syntax error at or near ")"
select mbus4.create_consumer('q', 'bad', $sel$t.data ? 'a') and t.data ? ('b'$sel$);
--> ERROR 42601: syntax error at or near ")"
select mbus4.create_consumer('q', 'bad', $sel$count(*) > 1$sel$);
--> ERROR 42803: aggregate functions are not allowed in WHERE
select mbus4.create_consumer('q', 'bad', $sel$t.data + 1 > 2$sel$);
--> ERROR 42883: operator does not exist: hstore + integer
select mbus4.create_consumer('q', 'bad', $sel$x.data ? 'a'$sel$);
--> ERROR 42P01: missing FROM-clause entry for table "x"
select mbus4.create_consumer('q', 'bad', $sel$generate_series(1, 2) = 1$sel$);
--> ERROR 0A000: set-returning functions are not allowed in WHERE
select mbus4.create_consumer('q', 'bad', $sel$$1 = 'a'$sel$);
--> ERROR 42P02: there is no parameter $1
select count(*) from mbus4.consumer where name = 'bad';
--> count
--> 0
