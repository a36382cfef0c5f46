// Package calls compares how often statements call volatile functions, and what they return, with a
// real PostgreSQL. The number of calls matters because a call can consume a message. Answers of
// PostgreSQL 15 are recorded in testdata/calls.txt; -rewrite records them anew.
package calls
