// Package charset is the client encodings of PostgreSQL beside UTF8: their names, and texts of
// clients from and to UTF-8. What a text cannot say in an encoding is PostgreSQL's error. The
// tables are those of golang.org/x/text; where they say more than PostgreSQL's, or something else,
// PostgreSQL's count.
package charset
