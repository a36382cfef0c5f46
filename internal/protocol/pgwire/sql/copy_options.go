package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/copytext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
)

// copyOptions are the options of COPY.
type copyOptions struct {
	text     copytext.Format
	binary   bool
	header   bool
	match    bool // the header must match the column names
	freeze   bool
	encoding *charset.Encoding // of the data, if encoded is set; nil: UTF-8
	encoded  bool
	quoteAll bool
	quote    []*pg.Node // columns; nil: none
	notNull  []*pg.Node
	null     []*pg.Node
	given    map[string]string // text options
}

// copyOptions parses the options. Checks are in PostgreSQL's order.
func (p *planner) copyOptions(list []*pg.Node, from bool) (*copyOptions, error) {
	o := &copyOptions{given: map[string]string{}}
	var seen []string
	for _, item := range list {
		d := item.GetDefElem()
		if slices.Contains(seen, d.Defname) {
			return nil, pgerror.New(pgerror.SyntaxError, "conflicting or redundant options").At(p.Text, d.Location)
		}
		seen = append(seen, d.Defname)
		if err := p.copyOption(o, d, from); err != nil {
			return nil, err
		}
	}
	return o, o.check(from)
}

func (p *planner) copyOption(o *copyOptions, d *pg.DefElem, from bool) (err error) {
	switch d.Defname {
	case "format", "delimiter", "null", "quote", "escape", "encoding":
		if d.Arg == nil {
			return pgerror.New(pgerror.SyntaxError, "%s requires a parameter", d.Defname)
		}
		o.given[d.Defname] = tree.OptionText(d)
	}
	wrong := func(format string, args ...any) error {
		return pgerror.New(pgerror.InvalidParameterValue, format, args...).At(p.Text, d.Location)
	}
	switch d.Defname {
	case "format":
		switch f := o.given["format"]; f {
		case "text":
		case "csv":
			o.text.CSV = true
		case "binary":
			o.binary = true
		default:
			return wrong(`COPY format "%s" not recognized`, f)
		}
	case "delimiter", "null", "quote", "escape":
	case "freeze":
		o.freeze, err = tree.OptionBool(d)
	case "header":
		err = o.readHeader(d, from)
	case "encoding":
		name := charset.Name(int64(charset.Number(o.given["encoding"])))
		if name == "" {
			return wrong(`argument to option "%s" must be a valid encoding name`, d.Defname)
		}
		if o.encoding, o.encoded = charset.ByName(name); !o.encoded {
			return pgerror.Unsupported("the encoding "+name).At(p.Text, d.Location)
		}
	case "force_quote":
		if _, o.quoteAll = d.GetArg().GetNode().(*pg.Node_AStar); !o.quoteAll {
			o.quote, err = p.copyNames(d)
		}
	case "force_not_null":
		o.notNull, err = p.copyNames(d)
	case "force_null":
		o.null, err = p.copyNames(d)
	default:
		return pgerror.New(pgerror.SyntaxError, `option "%s" not recognized`, d.Defname).At(p.Text, d.Location)
	}
	return err
}

// copyNames returns the column list of an option.
func (p *planner) copyNames(d *pg.DefElem) ([]*pg.Node, error) {
	if list := d.GetArg().GetList(); list != nil {
		return list.Items, nil
	}
	return nil, pgerror.New(pgerror.InvalidParameterValue, `argument to option "%s" must be a list of column names`, d.Defname).At(p.Text, d.Location)
}

// readHeader parses HEADER: a Boolean, or match.
func (o *copyOptions) readHeader(d *pg.DefElem, from bool) (err error) {
	if strings.EqualFold(tree.OptionText(d), "match") {
		if !from {
			return pgerror.New(pgerror.FeatureNotSupported, `cannot use "%s" with HEADER in COPY TO`, tree.OptionText(d))
		}
		o.header, o.match = true, true
		return nil
	}
	if o.header, err = tree.OptionBool(d); err != nil {
		return pgerror.New(pgerror.SyntaxError, `%s requires a Boolean value or "match"`, d.Defname)
	}
	return nil
}

// check fills in defaults and rejects invalid combinations.
func (o *copyOptions) check(from bool) error {
	unable := func(text string) error { return pgerror.New(pgerror.FeatureNotSupported, "%s", text) }
	f := &o.text
	get := func(name, otherwise string) string {
		if s, ok := o.given[name]; ok {
			return s
		}
		return otherwise
	}
	_, delimited := o.given["delimiter"]
	_, nulled := o.given["null"]
	_, quoted := o.given["quote"]
	_, escaped := o.given["escape"]
	delimiter, quote, escape := get("delimiter", "\t"), "", ""
	f.Null = get("null", `\N`)
	if f.CSV {
		delimiter, f.Null = get("delimiter", ","), get("null", "")
		quote = get("quote", `"`)
		escape = get("escape", quote)
	}
	switch {
	case o.binary && delimited:
		return pgerror.New(pgerror.SyntaxError, "cannot specify DELIMITER in BINARY mode")
	case o.binary && nulled:
		return pgerror.New(pgerror.SyntaxError, "cannot specify NULL in BINARY mode")
	case len(delimiter) != 1:
		return unable("COPY delimiter must be a single one-byte character")
	case delimiter == "\r" || delimiter == "\n":
		return pgerror.New(pgerror.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(f.Null, "\r\n"):
		return pgerror.New(pgerror.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	case !f.CSV && strings.Contains(`\.abcdefghijklmnopqrstuvwxyz0123456789`, delimiter):
		return pgerror.New(pgerror.InvalidParameterValue, `COPY delimiter cannot be "%s"`, delimiter)
	case o.binary && o.header:
		return unable("cannot specify HEADER in BINARY mode")
	case !f.CSV && quoted:
		return unable("COPY quote available only in CSV mode")
	case f.CSV && len(quote) != 1:
		return unable("COPY quote must be a single one-byte character")
	case f.CSV && delimiter == quote:
		return pgerror.New(pgerror.InvalidParameterValue, "COPY delimiter and quote must be different")
	case !f.CSV && escaped:
		return unable("COPY escape available only in CSV mode")
	case f.CSV && len(escape) != 1:
		return unable("COPY escape must be a single one-byte character")
	case !f.CSV && (o.quoteAll || o.quote != nil):
		return unable("COPY force quote available only in CSV mode")
	case from && (o.quoteAll || o.quote != nil):
		return unable("COPY force quote only available using COPY TO")
	case !f.CSV && o.notNull != nil:
		return unable("COPY force not null available only in CSV mode")
	case !from && o.notNull != nil:
		return unable("COPY force not null only available using COPY FROM")
	case !f.CSV && o.null != nil:
		return unable("COPY force null available only in CSV mode")
	case !from && o.null != nil:
		return unable("COPY force null only available using COPY FROM")
	case strings.Contains(f.Null, delimiter):
		return unable("COPY delimiter must not appear in the NULL specification")
	case f.CSV && strings.Contains(f.Null, quote):
		return unable("CSV quote character must not appear in the NULL specification")
	}
	if f.Delimiter = delimiter[0]; f.CSV {
		f.Quote, f.Escape = quote[0], escape[0]
	}
	return nil
}
