// Package config computes the settings of one run.
//
// There is one struct, Config, and four places a value may come from; the first that has one wins: a flag, a SAYSO_ variable, the TOML file, the built-in
// default. The file is named by --config or SAYSO_CONFIG, else it is sayso/config.toml in the user's configuration folder, when that exists. The program
// never writes it.
//
// The key of the file is the name of the variable in lower case without the prefix: rate_limit and SAYSO_RATE_LIMIT. Lists are TOML arrays in the file and
// separated by commas elsewhere. An unknown key, an unknown variable with the prefix, a value of the wrong type and an address that cannot work are errors
// that name the place. Variables that begin with SAYSO_TEST_ belong to tests.
//
// No setting is a secret: a secret is named by its file, which must not be readable by others.
package config
