// Package virtual contains what the families of virtual keys share. A virtual key is not stored: it
// is derived from the broker's state at each request. The families are queues (package queues) and
// semaphores (package semkeys).
//
// They share one revision clock (Clock), one way to sort and compare results, and atomic
// transactions over several of them and the ordinary keys (Txns).
package virtual
