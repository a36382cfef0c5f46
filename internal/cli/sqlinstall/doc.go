// Package sqlinstall has the commands that install the queues of mbus4 into a PostgreSQL.
package sqlinstall
