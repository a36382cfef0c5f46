// Package mbus implements the functions of the schemas mbus4 and mbus on the broker's queues:
// posting and consuming with SQL, in transactions.
package mbus
