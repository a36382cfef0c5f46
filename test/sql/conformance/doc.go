// Package conformance runs SQL scripts and compares a server's answers with those in the scripts:
// on a real PostgreSQL with the native schema mbus4, which is the authority (-rewrite records its
// answers), and on Fiveways.
//
// A script is a file of testdata/. A statement ends with ';' at the end of a line and may be
// several lines; the lines after it that begin with '--> ' are the server's answer: notices, then
// the rows under the names of their columns, or the command tag, or the error. Any other line that
// begins with '--' is a comment, except for directives before a statement:
//
//	-- session NAME [as USER]   the statements from here on are of that session; the first one is 'a', of the superuser guest
//	-- close NAME               the session ends
//	-- keep NAME                the first column of the statement's last row is kept; :NAME stands for it in later ones, as a literal
//	-- wait                     the statement does not answer for now; later '-- answer NAME' shows what session NAME got
//
// Each script has a database of its own, named as the file, so that answers that contain its name
// are the same everywhere. What differs by nature is masked: see mask.
package conformance
