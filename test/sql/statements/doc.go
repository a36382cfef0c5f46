// Package statements compares what random SELECTs give here and in PostgreSQL: joins, grouping,
// sub-selects, set operations, window functions, order and limits over two small tables, which
// stand in the statement itself.
package statements
