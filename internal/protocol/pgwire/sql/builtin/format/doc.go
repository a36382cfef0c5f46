// Package format implements the functions with a format template: to_char for numbers, timestamps
// and intervals, and the inverse functions to_number, to_date and to_timestamp.
//
// It defines the two template languages, for numbers and for times. A template is parsed at each
// call. Text that is not a pattern is literal.
package format
