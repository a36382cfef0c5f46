select * from pg_get_keywords() order by word collate "C";
