// Package config holds every setting of a Fiveways node: its key, its default, the values it may take, and where its value came from.
//
// A setting is read from four layers, each over the one before: the default, the TOML file, the environment variable
// FIVEWAYS_ plus the key in capitals, and the command-line flag with dashes for underscores. So memory_limit is also
// FIVEWAYS_MEMORY_LIMIT and --memory-limit. A key or variable nobody knows is an error, never silently ignored: a typing
// error in a durability setting must not go unnoticed.
//
// The table in options.go is the only list of the settings; flags, environment, file, help and the printed configuration follow from it.
// A Config is a plain value without locks; nothing in this package keeps state.
package config
