// Package charset implements the client encodings of PostgreSQL besides UTF8: their names, and the
// conversion of client texts from and to UTF-8. A character that an encoding lacks results in
// PostgreSQL's error. The tables are those of golang.org/x/text, except where PostgreSQL's tables
// differ.
package charset
