// Package format has the functions with a format template: to_char of numbers, timestamps and
// intervals, and the reverse, to_number, to_date and to_timestamp.
//
// It owns the two template languages, for numbers and for times. A template is parsed at each call;
// text that is no pattern is literal.
package format
