package sql

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
)

// constantText returns a constant in a SET command as text.
func constantText(n *pg.Node) string {
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		return plainConstant(n.AConst)
	case *pg.Node_TypeCast: // SET TIME ZONE INTERVAL '+03:00' HOUR TO MINUTE
		return intervalHours(constantText(n.TypeCast.Arg))
	case *pg.Node_String_:
		return n.String_.Sval
	case *pg.Node_Integer:
		return plainInt(n.Integer.Ival)
	case *pg.Node_Boolean:
		return settings.OnOff(n.Boolean.Boolval)
	}
	return ""
}

func plainInt(n int32) string { return strconv.FormatInt(int64(n), 10) }

func plainConstant(c *pg.A_Const) string {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return plainInt(v.Ival.Ival)
	case *pg.A_Const_Fval:
		return v.Fval.Fval
	case *pg.A_Const_Sval:
		return v.Sval.Sval
	case *pg.A_Const_Boolval:
		return settings.OnOff(v.Boolval.Boolval)
	}
	return ""
}

// intervalHours converts +03:30 to 3.5, a format that SET TimeZone accepts. It returns other texts
// unchanged.
func intervalHours(v string) string {
	hours, minutes, _ := strings.Cut(v, ":")
	h, err := strconv.Atoi(hours)
	if err != nil {
		return v
	}
	m, _ := strconv.Atoi(minutes)
	if strings.HasPrefix(hours, "-") {
		m = -m
	}
	return strconv.FormatFloat(float64(h)+float64(m)/60, 'f', -1, 64)
}
