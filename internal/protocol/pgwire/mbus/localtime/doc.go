// Package localtime has the times of messages as SQL shows them: timestamps without a zone, in the
// zone of a session, and their text.
//
// It has no state. The text is in ISO format whatever the session's DateStyle is, because messages
// store it.
package localtime
