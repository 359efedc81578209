package dataset

// ErrorKind says what went wrong with an act, in the classes of the command line's exit codes.
type ErrorKind string

// The kinds of errors of the acts.
const (
	Usage       ErrorKind = "usage"       // the request itself does not make sense
	NotFound    ErrorKind = "not found"   // no such key, value, period or key id
	Differs     ErrorKind = "differs"     // the value that was typed is not the value in the file
	Refused     ErrorKind = "refused"     // a rule forbids it
	Unavailable ErrorKind = "unavailable" // the source could not be fetched, or another command holds the folder
)

// Error is every refusal of an act. Nothing was written unless Message says so.
type Error struct {
	Kind    ErrorKind
	Message string
	Next    string // what to do
}

func (e *Error) Error() string { return e.Message }
