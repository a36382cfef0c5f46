// Package duel sends the same operations to a real etcd and to a broker, as gRPC calls of etcd's
// API, and compares all answers and watch events.
//
// A script is lines of text (testdata of package etcd). A line is the name of a method and one
// request in the text form of its protobuf message:
//
//	KV.Put key:"a" value:"1"          any method that answers once; of KV, Lease, Auth, Cluster, Maintenance, Lock, Election
//	2> KV.Range key:"a"               by the second client; each has a connection of its own
//	w1 create_request:{key:"a"}       a message on the watch stream w1, opened by the first
//	w1 end                            the stream is closed
//	KeepAlive ID:7                    one message on a stream of its own
//	2> login name:"u" password:"p"    Authenticate; this client sends the token from then on
//	2> token bad                      it sends this token; with nothing behind the word it sends none
//	go 2> Lock.Lock name:"l" lease:7  runs in the background, for calls that wait
//	answer 2                          compares the answer to that call of the second client
//	settle                            compares the watch events so far here, not only at the end
//	await 0 key:"a"                   waits until the range has this many keys in both
//
// A line that begins with = after a step is another right answer, for instance that of newer
// versions of etcd than the installed one, or a stricter one: the broker may give it.
//
// Revisions are relative: @3 in a request is the third revision after the start of the script, and
// revisions in answers are written in the same way. So one server serves many scripts, and a
// difference in one changes no other. Between scripts all keys, leases, alarms, users and roles are
// deleted. The broker's own users are left out of its answers (sweep.go), and fields that differ by
// nature are not compared (freefields.go).
package duel
