// Package matrix publishes messages over one protocol and consumes them over another, for every
// pair of protocols and with real clients of each.
//
// A protocol is one file, which adds it to protocols and implements endpoint; cases_test.go is the
// table of messages that are sent and of what must arrive. across_test.go and the test files of the
// protocols have what only some protocols can express. The rules are in sql-mapping.md, redis.md,
// http.md and the pages about etcd, in docs/protocols.
package matrix
