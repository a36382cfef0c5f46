// Package conformance runs scripts of SQL and compares what a server answers with what they say:
// real PostgreSQL with the native schema mbus4, which is the authority (-rewrite takes its answers
// into the scripts), and Fiveways.
//
// A script is a file of testdata/. A statement ends with ';' at the end of a line and may be
// several lines; the lines after it that begin with '--> ' are what the server answers: notices,
// then the rows under the names of their columns, or the command tag, or the error. Everything else
// that begins with '--' is a comment, but for directives before a statement:
//
//	-- session NAME [as USER]   the statements from here on are of that session; the first one is 'a', of the superuser guest
//	-- close NAME               the session ends
//	-- keep NAME                the first column of the statement's last row is kept; :NAME stands for it in later ones, as a literal
//	-- wait                     the statement does not answer for now; later '-- answer NAME' shows what session NAME got
//
// Each script has a database of its own, named as the file, so that what it says about databases is
// the same everywhere. What differs by nature is masked: see mask.
package conformance
