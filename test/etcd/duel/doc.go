// Package duel plays the same operations to a real etcd and to a broker, through the plain gRPC
// calls of etcd's API, and compares all they answer, and what their watches tell.
//
// A script is lines of text (testdata of package etcd). A line is one request in the text form of
// its protobuf message behind the method's name:
//
//	KV.Put key:"a" value:"1"          any method that answers once; of KV, Lease, Auth, Cluster, Maintenance, Lock, Election
//	2> KV.Range key:"a"               by the second client; each has a connection of its own
//	w1 create_request:{key:"a"}       a message on the watch stream w1, opened by the first
//	w1 end                            the stream is closed
//	KeepAlive ID:7                    one message on a stream of its own
//	2> login name:"u" password:"p"    Authenticate; this client shows the token from then on
//	2> token bad                      it shows this one; with nothing behind the word it shows none
//	go 2> Lock.Lock name:"l" lease:7  asked in the background, for what has to wait
//	answer 2                          what the second client asked in the background is compared here
//	settle                            what watches have told by now is compared here, not only at the end
//	await 0 key:"a"                   waits until the range has so many keys in both; for leases that run out, and for what happens in the background
//
// A line that begins with = behind a step is another right answer, that of newer versions of etcd
// than the one at hand, or a stricter one: the broker may give it.
//
// Revisions are relative: @3 in a request is the third revision after the one at the beginning of
// the script, and revisions in answers are written like that too. So one server serves many
// scripts, and a difference in one changes no other. Between scripts the servers are swept: no
// keys, leases, alarms, users or roles; users of the broker are told apart in freefields.go.
package duel
