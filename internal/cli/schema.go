package cli

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed schema/*.json
var schemas embed.FS

// failureSchema is that of every command that fails before it has answered.
const failureSchema = "failure"

// answerSchemas names the files of folder schema by which the --json answers of each command are formed. What mcp writes are messages of its protocol.
var answerSchemas = map[string][]string{
	"ask":                          {"ask"},
	"business audit":               {"business-audit"},
	"business calendar remove":     {"business-set"},
	"business calendar set":        {"business-set"},
	"business coverage":            {"business-coverage"},
	"business create":              {"business-receipt"},
	"business delegate":            {"business-receipt"},
	"business host add":            {"business-receipt"},
	"business host remove":         {"business-receipt"},
	"business hours":               {"business-hours"},
	"business import":              {"business-import"},
	"business lint":                {"business-lint"},
	"business list":                {"business-list"},
	"business live":                {"business-live"},
	"business locations set":       {"business-set"},
	"business pause":               {"business-receipt"},
	"business profile set":         {"business-set"},
	"business prove":               {"business-prove", "business-prove-check"},
	"business publish":             {"business-receipt"},
	"business quota":               {"business-receipt"},
	"business resume":              {"business-receipt"},
	"business revoke":              {"business-receipt"},
	"business schema remove":       {"business-set"},
	"business schema set":          {"business-set"},
	"business show":                {"business-show"},
	"business suspend":             {"business-receipt"},
	"business token":               {"token"},
	"business token revoke":        {"business-receipt"},
	"business tokens":              {"tokens"},
	"business unsuspend":           {"business-receipt"},
	"business verify":              {"business-receipt"},
	"business withdraw":            {"business-receipt"},
	"changes":                      {"changes"},
	"check":                        {"check", "check-several"},
	"completion":                   {"completion"},
	"config show":                  {"config-show"},
	"demo":                         {"demo"},
	"doctor":                       {"doctor"},
	"facts audit":                  {"facts-audit"},
	"facts build":                  {"facts-build", "facts-build-verify"},
	"facts compare":                {"facts-compare"},
	"facts confirm":                {"facts-confirm"},
	"facts due":                    {"facts-due"},
	"facts import":                 {"facts-import", "facts-import-suggest"},
	"facts init":                   {"facts-init"},
	"facts keys":                   {"facts-keys"},
	"facts keys add":               {"facts-keys-change"},
	"facts keys retire":            {"facts-keys-change"},
	"facts keys revoke":            {"facts-keys-change"},
	"facts lint":                   {"facts-lint"},
	"facts recheck":                {"facts-recheck"},
	"facts set":                    {"facts-set"},
	"facts show":                   {"facts-show", "facts-show-list"},
	"facts sign":                   {"facts-sign"},
	"facts withdraw":               {"facts-withdraw"},
	"get":                          {"get"},
	"health":                       {"health"},
	"init":                         {"init"},
	"interest activate":            {"interest-activate"},
	"interest add":                 {"interest"},
	"interest approve":             {"interest-entry"},
	"interest audit":               {"interest-audit"},
	"interest audit verify":        {"interest-audit-verify"},
	"interest budget":              {"interest-budget", "interest-frozen"},
	"interest check":               {"interest-check"},
	"interest close":               {"interest-session"},
	"interest confirm":             {"interest"},
	"interest credentials add":     {"interest-credentials"},
	"interest credentials issue":   {"interest-credentials-batch"},
	"interest credentials list":    {"interest-credentials-list"},
	"interest credentials remove":  {"interest-credentials-removed"},
	"interest credentials request": {"interest-credentials-request"},
	"interest decline":             {"interest-entry"},
	"interest expand":              {"interest-expand"},
	"interest expansions":          {"interest-expansions"},
	"interest explore":             {"interest-explore"},
	"interest inbox":               {"interest-inbox", "interest-entry"},
	"interest list":                {"interest-list"},
	"interest new":                 {"interest-new"},
	"interest opportunities":       {"interest-opportunities"},
	"interest request":             {"interest-session"},
	"interest resume":              {"interest"},
	"interest revoke":              {"interest"},
	"interest serve":               {"interest-serve"},
	"interest sessions":            {"interest-sessions"},
	"interest show":                {"interest-show", "interest-entry"},
	"interest supersede":           {"interest"},
	"interest suspend":             {"interest"},
	"interest trust add":           {"interest-trust"},
	"interest trust list":          {"interest-trust-list"},
	"interest trust remove":        {"interest-trust"},
	"keys new":                     {"keys-new"},
	"keys registry install":        {"business-receipt"},
	"keys registry list":           {"keys-registry-list"},
	"keys registry prepare":        {"keys-registry-entry"},
	"keys registry revoke":         {"business-receipt"},
	"keys registry sign":           {"keys-registry-entry", "keys-registry-withdrawal"},
	"keys revoke":                  {"keys-business"},
	"keys rotate":                  {"keys-business"},
	"lab check":                    {"lab-run"},
	"lab explain":                  {"lab-explain"},
	"lab list":                     {"lab-list"},
	"lab partitions":               {"lab-partitions"},
	"lab run":                      {"lab-run"},
	"man":                          {"man"},
	"operator list":                {"tokens"},
	"operator revoke":              {"business-receipt"},
	"operator token":               {"token"},
	"provider ban":                 {"provider-ban"},
	"provider bans":                {"provider-bans"},
	"provider info":                {"provider-info"},
	"provider reports":             {"provider-reports"},
	"provider serve":               {"provider-serve"},
	"provider unban":               {"provider-ban"},
	"resolve":                      {"resolve"},
	"serve":                        {"serve"},
	"verify":                       {"verify", "verify-business"},
	"version":                      {"version"},
}

// answersOf are the schemas of a command's answers, failure last.
func answersOf(c *cobra.Command) []string {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	names := answerSchemas[path]
	if names == nil {
		return nil
	}
	return append(names[:len(names):len(names)], failureSchema)
}

// offerSchemas lets --json-schema answer in place of every command, whatever else is on the command line.
func offerSchemas(c *cobra.Command, e *env) {
	for _, child := range c.Commands() {
		offerSchemas(child, e)
	}
	check, run := c.Args, c.RunE
	c.Args = func(cmd *cobra.Command, args []string) error {
		if e.schema {
			return nil
		}
		return check(cmd, args)
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if e.schema {
			return e.writeSchema(cmd)
		}
		return run(cmd, args)
	}
}

// writeSchema prints one schema that holds those of all answers of a command, each under its own $id.
func (e *env) writeSchema(c *cobra.Command) error {
	names := answersOf(c)
	if names == nil {
		return usageError("%s has no --json answer", c.CommandPath()).withRun(c.CommandPath() + " --help")
	}
	var refs, defs []string
	for _, name := range names {
		text, err := schemas.ReadFile("schema/" + name + ".json")
		if err != nil {
			return err
		}
		refs = append(refs, fmt.Sprintf(`    {"$ref": "urn:sayso:cli:%s"}`, name))
		defs = append(defs, fmt.Sprintf("    %q: %s", name, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    ")))
	}
	e.hasAnswered = true
	_, err := io.WriteString(e.out, fmt.Sprintf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": %q,\n  \"anyOf\": [\n%s\n  ],\n  \"$defs\": {\n%s\n  }\n}\n",
		c.CommandPath()+" --json", strings.Join(refs, ",\n"), strings.Join(defs, ",\n")))
	return err
}
