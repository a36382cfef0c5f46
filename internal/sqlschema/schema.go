package sqlschema

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Version is the version of the schema that Text has.
const Version = 1

//go:embed sql/*.sql
var files embed.FS

// hstorePlace stands in the files for the schema that the extension hstore is in.
const hstorePlace = "@hstore@"

// Text returns the whole SQL as one script for a database whose extension hstore is in the schema hstoreSchema. Run it as one transaction, by
// whom the schema shall belong to.
func Text(hstoreSchema string) string {
	names, err := fs.Glob(files, "sql/*.sql") // in the order of their names
	if err != nil {
		panic(err) // the pattern is a constant
	}
	hstore := quote(hstoreSchema)
	var b strings.Builder
	fmt.Fprintf(&b, "set local search_path = pg_catalog, %s, pg_temp;\nset local client_min_messages = warning;\n", hstore)
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		fmt.Fprintf(&b, "\n%s", strings.ReplaceAll(string(text), hstorePlace, hstore))
	}
	return b.String()
}

// quote writes a name as SQL does.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
