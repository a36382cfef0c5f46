// Package matrix sends messages in by one protocol and takes them out by another, for every pair
// and with the real clients of each.
//
// A protocol is one file, which adds it to protocols and implements endpoint; cases_test.go is the
// table of what is sent and what must come. What only some protocols have words for is in
// across_test.go and the files of its tests. docs/protocols/sql-mapping.md, redis.md, http.md and
// the pages of etcd have the rules.
package matrix
