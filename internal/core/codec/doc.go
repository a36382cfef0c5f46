// Package codec reads and appends the fields of facts, snapshots and messages: fixed-size integers,
// varints, and length-prefixed bytes.
//
// A Reader checks every length against what is left, and its first failure sticks. Nothing here
// allocates, except the strings that a Reader returns.
package codec
