package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/report"
)

// today is the UTC day on which the command runs.
func today() facts.Date { return facts.DateOf(time.Now()) }

// takeFolder takes the folder of figures from the front of the arguments: the first one when it holds a publisher.yaml, else the current folder (F§10.2).
func takeFolder(args []string) (dir string, rest []string, err error) {
	if len(args) > 0 && holdsFigures(args[0]) {
		return filepath.Clean(args[0]), args[1:], nil
	}
	if holdsFigures(".") {
		return ".", args, nil
	}
	where := "the current folder holds no publisher.yaml"
	if len(args) > 0 {
		where = "neither " + args[0] + " nor the current folder holds a publisher.yaml"
	}
	return "", nil, notFoundError("%s", where).withHint("name the folder of figures first, or make one").withRun("sayso facts init figures")
}

func holdsFigures(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "publisher.yaml"))
	return err == nil && info.Mode().IsRegular()
}

// folderAlone is takeFolder for a command that takes nothing else.
func folderAlone(args []string) (dir string, err error) {
	dir, rest, err := takeFolder(args)
	if err == nil && len(rest) > 0 {
		err = surplus(rest)
	}
	return dir, err
}

// folderAndKey is takeFolder for a command that takes one key, or none when it is optional.
func folderAndKey(args []string, optional bool) (dir, key string, err error) {
	dir, rest, err := takeFolder(args)
	switch {
	case err != nil:
		return "", "", err
	case len(rest) > 1:
		return "", "", surplus(rest)
	case len(rest) == 1:
		return dir, rest[0], nil
	case optional:
		return dir, "", nil
	}
	return "", "", usageError("a key is missing").withHint("list the keys of the folder").withRun("sayso facts show " + shellWord(dir))
}

// surplus refuses arguments that nothing takes. One that names a folder was meant to be the folder of figures.
func surplus(rest []string) error {
	if info, err := os.Stat(rest[0]); err == nil && info.IsDir() {
		return notFoundError("%s holds no publisher.yaml", rest[0]).withHint("name the folder of figures first, or make one").withRun("sayso facts init " + shellWord(rest[0]))
	}
	return usageError("%q is neither a folder with a publisher.yaml nor expected here", rest[len(rest)-1]).withHint("the folder comes first: sayso facts VERB [DIR] …")
}

// loadFolder reads a folder for a command that needs all of it.
func loadFolder(dir string) (*dataset.Folder, error) {
	folder, r := dataset.Load(os.DirFS(dir))
	if r.Failed() {
		return nil, actFailure(dir, &dataset.FolderError{Report: r})
	}
	return folder, nil
}

// actFailure gives the refusals of package dataset their exit codes. A folder with errors gives what to do about the
// first of them; its run line is lint, which shows all.
func actFailure(dir string, err error) error {
	var act *dataset.Error
	var folder *dataset.FolderError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &folder):
		f := failedError("%s: %v", dir, folder).withRun("sayso facts lint " + shellWord(dir))
		f.hint = folder.Cause().Next
		if _, held := keyMaterial(folder); held {
			f.code = exitRefused
		}
		return f
	case errors.As(err, &act):
		f := &failure{code: exitFailed, message: act.Message, hint: act.Next}
		switch act.Kind {
		case dataset.Usage:
			f.code = exitUsage
		case dataset.NotFound:
			f.code = exitNotFound
		case dataset.Refused:
			f.code = exitRefused
		case dataset.Unavailable:
			f.code = exitUnavailable
		}
		return f
	}
	return err
}

// keyMaterial is the finding of a private key in a folder: it must leave the folder before anything else is looked at.
func keyMaterial(refused *dataset.FolderError) (finding report.Finding, held bool) {
	for _, f := range refused.Report.Findings {
		if f.Rule == "VF-D-013" && f.Outcome == report.Fail {
			return f, true
		}
	}
	return report.Finding{}, false
}

// needFlags refuses a command line without the flags that have no default.
func needFlags(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			return usageError("--%s is missing", name).withRun(cmd.CommandPath() + " --help")
		}
	}
	return nil
}

// dateFlag reads a day given on the command line; "" is the zero date.
func dateFlag(name, text string) (facts.Date, error) {
	if text == "" {
		return 0, nil
	}
	d, err := facts.ParseDate(text)
	if err != nil {
		return 0, usageError("--%s %q is no day YYYY-MM-DD", name, text)
	}
	return d, nil
}

// shellWord quotes a word for a command line that is printed to be copied.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
