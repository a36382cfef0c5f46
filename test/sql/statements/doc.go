// Package statements compares the results of random SELECTs here and in PostgreSQL: joins,
// grouping, sub-selects, set operations, window functions, order and limits over two small tables,
// which are part of the statement itself.
package statements
