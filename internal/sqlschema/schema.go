package sqlschema

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Version is the version of the schema in Text.
const Version = 1

//go:embed sql/*.sql semaphore/*.sql
var files embed.FS

// hstorePlace is the placeholder in the files for the schema of the extension hstore.
const hstorePlace = "@hstore@"

// Text returns the whole SQL as one script for a database whose extension hstore is in the schema
// hstoreSchema. It must run in one transaction, as the future owner of the schema.
func Text(hstoreSchema string) string {
	hstore := quote(hstoreSchema)
	return strings.ReplaceAll(join("sql/*.sql", "pg_catalog, "+hstore+", pg_temp"), hstorePlace, hstore)
}

// join concatenates the files that match a pattern, sorted by name.
func join(pattern, searchPath string) string {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var b strings.Builder
	fmt.Fprintf(&b, "set local search_path = %s;\nset local client_min_messages = warning;\n", searchPath)
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		fmt.Fprintf(&b, "\n%s", text)
	}
	return b.String()
}

// quote quotes an SQL identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
