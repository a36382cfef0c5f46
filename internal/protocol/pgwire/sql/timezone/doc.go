// Package timezone finds time zones as PostgreSQL's settings and texts name them: by a name of the
// time zone database in any case, by a POSIX rule, or by an abbreviation, whose meaning is that of
// PostgreSQL's default list.
//
// The time zone database is part of the program, so that results do not depend on the machine.
package timezone
