// Package cli is the command line.
//
// # Rules every command keeps
//
// Standard output carries the answer and nothing else; notes, progress and errors go to standard error. With --json the answer is exactly one JSON value,
// also when the command fails: {"error": KIND, "message": SENTENCE, "code"?, "hint"?, "run"?}. Help alone is always text; mcp writes the messages of its protocol.
// With --json-schema a command prints the JSON Schema of these answers, from the files of folder schema, and does nothing else. A command never asks anything without a terminal: it fails with exit 2
// and names the flag that would have answered. Colours appear on a terminal that wants them (NO_COLOR, CLICOLOR, TERM, --color). --quiet leaves answers and
// errors.
//
//	exit  kind           meaning
//	0                    done
//	1     failed         a verification or check failed, or the command could not do what it was asked
//	2     usage          the command line or the configuration is wrong, or input was needed and there is no terminal
//	3     not found      the thing asked for does not exist
//	4     refused        not permitted: an unsafe key file, a folder that must not be overwritten
//	5     unavailable    something could not be reached; trying again may help
//	130   interrupted
//
// An error is one lower-case sentence that says what failed and which check, then at most one hint, then the command to run. A refusal by the registry has
// its machine code in brackets behind the sentence.
//
// # Adding a command
//
// A command is one file, cmd_NOUN_VERB.go, with a constructor and one registration:
//
//	func init() { register("facts", newFactsLint) }
//
//	func newFactsLint(e *env) *cobra.Command {
//		return &cobra.Command{
//			Use:     "lint [DIR]",
//			Short:   "Check a folder of figures",
//			Long:    "…whole sentences…",
//			Example: "  sayso facts lint figures",
//			RunE:    func(cmd *cobra.Command, args []string) error { … },
//		}
//	}
//
// A noun may hold groups of its own: group makes one, as in business profile set. A command on the registry goes through e.onRegistry, which opens the registry of the
// data folder, finds out who acts, and maps refusals to exit codes.
//
// The first argument of register is the noun, "" for a command of the top level; the nouns and their texts are listed in root.go, and a noun appears as soon
// as it has a verb. By the time RunE is called, e holds the settings (e.config), a context that ends with an interrupt (e.ctx) and the streams. A command
// answers through e.answer, speaks to the person through e.note, shows progress through e.progress, and fails by returning one of the errors made by
// usageError, failedError, notFoundError, refusedError, unavailableError. Its answer has a schema in folder schema, named in schema.go. Tests hold every
// command to having Short, Long, Example and schema, every example to parsing, and every schema to an answer of a real run.
package cli
