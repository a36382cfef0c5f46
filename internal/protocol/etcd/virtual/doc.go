// Package virtual is what the families of virtual keys share. Such a key is stored nowhere: it is made of what the broker holds at the moment somebody
// asks. The families are queues (package queues) and semaphores (package semkeys).
//
// They have one clock for their revisions (Clock), one way to arrange and compare what was found, and transactions over several of them and the ordinary
// keys (Txns), of which everything happens or nothing.
package virtual
