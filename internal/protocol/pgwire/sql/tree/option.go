package tree

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// OptionText returns the value of an option as text. Unquoted words are in lower case.
func OptionText(d *pg.DefElem) string {
	switch v := d.GetArg().GetNode().(type) {
	case *pg.Node_String_:
		return v.String_.Sval
	case *pg.Node_Integer:
		return strconv.Itoa(int(v.Integer.Ival))
	case *pg.Node_Float:
		return v.Float.Fval
	case *pg.Node_Boolean:
		return strconv.FormatBool(v.Boolean.Boolval)
	case *pg.Node_TypeName:
		return strings.Join(Names(v.TypeName.Names), ".")
	}
	return ""
}

// OptionBool returns the value of a Boolean option. An option without a value is on.
func OptionBool(d *pg.DefElem) (bool, error) {
	if d.Arg == nil {
		return true, nil
	}
	switch strings.ToLower(OptionText(d)) {
	case "true", "on", "1":
		return true, nil
	case "false", "off", "0":
		return false, nil
	}
	return false, pgerror.New(pgerror.SyntaxError, "%s requires a Boolean value", d.Defname)
}
