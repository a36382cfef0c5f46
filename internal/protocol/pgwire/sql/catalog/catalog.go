package catalog

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Options describe what the catalogs contain besides types and functions.
type Options struct {
	Schemas         []schema.Schema // the other schemas of the session
	User, Database  string
	Superuser       bool
	ApplicationName string
	BackendPID      uint32
	Users           func() []Role   // nil: there is only User
	Databases       func() []string // nil: there is only Database
	Sessions        func() []Activity
	Started         temporal.TimestampTZ // start time of the server
}

// Role is a user that can log in.
type Role struct {
	Name      string
	Superuser bool
}

// Activity is a session as shown in pg_stat_activity.
type Activity struct {
	PID                             uint32
	User, Database, ApplicationName string
	Address                         string // of the client; empty if it is not a network address
	Port                            int
	Started                         temporal.TimestampTZ
	State                           string // as pg_stat_activity has it
	Query                           string // that runs, or ran last
	QueryStarted                    temporal.TimestampTZ
}

// Catalog is the system catalogs of one session.
type Catalog struct {
	opts    Options
	schemas []*catalogSchema
	objects objects // of the other schemas, cached by version

	Transaction func() int64 // txid_current of the session; nil: not known
}

// New returns the catalogs for a session.
func New(o Options) *Catalog {
	c := &Catalog{opts: o}
	for _, name := range []string{pgCatalog, informationSchema} {
		c.schemas = append(c.schemas, &catalogSchema{c: c, name: name})
	}
	return c
}

// Schemas returns pg_catalog and information_schema, and an empty schema public if Options.Schemas
// has none.
func (c *Catalog) Schemas() []schema.Schema {
	all := []schema.Schema{c.schemas[0], c.schemas[1]}
	if !slices.ContainsFunc(c.opts.Schemas, func(s schema.Schema) bool { return s.Name() == publicSchema }) {
		all = append(all, &catalogSchema{c: c, name: publicSchema})
	}
	return all
}

const (
	pgCatalog         = "pg_catalog"
	informationSchema = "information_schema"
	publicSchema      = "public"
)

// catalogSchema is pg_catalog, information_schema or an empty public.
type catalogSchema struct {
	c    *Catalog
	name string
}

func (s *catalogSchema) Name() string { return s.name }

// Version is constant: the rows of the catalogs change, but not the set of relations and functions.
func (s *catalogSchema) Version() uint64 { return 0 }

func (s *catalogSchema) Functions(_ *expr.Env, name string) []*expr.Function {
	if s.name == informationSchema && name == "_pg_expandarray" {
		return expandArrays()
	}
	if s.name != pgCatalog {
		return nil
	}
	return s.c.functionsNamed(name)
}

// AllFunctions returns nil, because the functions replace built-in ones that are listed elsewhere.
func (s *catalogSchema) AllFunctions(*expr.Env) []*expr.Function { return nil }

func (s *catalogSchema) Relation(_ *expr.Env, name string) schema.Relation {
	if t := tables()[s.name+"."+name]; t != nil {
		return &relation{s.c, t}
	}
	return nil
}

func (s *catalogSchema) AllRelations(*expr.Env) []schema.Relation {
	var all []schema.Relation
	for _, t := range sortedTables() {
		if t.schema == s.name {
			all = append(all, &relation{s.c, t})
		}
	}
	return all
}

func (s *catalogSchema) Type(name string) *value.Type {
	if t := value.ByName(name); t != nil && t.Schema == s.name {
		return t
	}
	return nil
}
