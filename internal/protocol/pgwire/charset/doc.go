// Package charset implements the client encodings of PostgreSQL besides UTF8: their names, and
// conversion of client texts from and to UTF-8. A character missing from an encoding is
// PostgreSQL's error. The tables are those of golang.org/x/text; where they differ from
// PostgreSQL's, PostgreSQL's apply.
package charset
