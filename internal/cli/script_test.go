package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sayso/jcs"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sayso": func() { os.Exit(Main()) }})
}

// TestScript runs the scripts of testdata/script, one file for each command or rule. Beside the commands of package testscript they have:
//
//	exits CODE COMMAND…           run a command that must end with this code
//	ready DATA                    wait until the server with this data folder is ready
//	fetch DATA PATH REGEXP        wait until the public listener answers PATH with a body or status line that matches
//	fetch -admin DATA PATH REGEXP the same on the private listener
//	signal TERM|HUP DATA          send a signal to the server with this data folder
//	stopwatch start | stop LIMIT  measure what stands between
//	onejson FILE                  the file holds exactly one JSON value
//	figures DIR                   write a folder of figures that serves: testdata/figures
//	publisher                     set $ORIGIN to a publisher of signed sample figures, or to that of the server with the data folder that is named
//	save PATH FILE                write what $ORIGIN answers to a file
//	forge OLD NEW                 stand between the reader and $ORIGIN, replacing a text in what it answers, and set $FORGED to where
//	registry [-figures] DATA      set $REGISTRY to a server over the registry of a data folder
//	bundle DIR                    write the bundle of a business: testdata/business
//	token ANSWER FILE             keep the token of an answer in JSON
//	pick ANSWER MEMBER VAR        set $VAR to the first member of that name in an answer in JSON
func TestScript(t *testing.T) {
	watches := map[string]time.Time{}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("SAYSO_ADMIN", "127.0.0.1:0") // nobody else's server is found, and no port has to be free
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready": func(ts *testscript.TestScript, _ bool, args []string) {
				await(ts, true, args[0], "/readyz", `"ready":true`)
			},
			"exits":     exits,
			"publisher": publisherCommand,
			"save":      saveCommand,
			"forge":     forgeCommand,
			"registry":  registryCommand,
			"token":     tokenOf,
			"pick":      pickCommand,
			"bundle": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(filepath.Join(testdata, "business"))))
			},
			"fetch":   fetchCommand,
			"signal":  sendSignal,
			"onejson": oneJSON,
			"figures": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(filepath.Join(testdata, "figures"))))
			},
			"stopwatch": func(ts *testscript.TestScript, _ bool, args []string) {
				if args[0] == "start" {
					watches[ts.Name()] = time.Now()
					return
				}
				limit, err := time.ParseDuration(args[1])
				ts.Check(err)
				if took := time.Since(watches[ts.Name()]); took > limit {
					ts.Fatalf("took %v, the limit is %v", took, limit)
				}
			},
		},
	})
}

// testdata is absolute because scripts run elsewhere.
var testdata = func() string {
	path, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return path
}()

func exits(ts *testscript.TestScript, _ bool, args []string) {
	got, how := 0, "by itself"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got, how = ended.ExitCode(), ended.Error() // of one that a signal ended the code is -1, and only the text names the signal
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit %d (%s), want %s", got, how, args[0])
	}
}

func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	found, ok := readInstance(ts.MkAbs(args[1]), instanceFile)
	if !ok {
		found, ok = readInstance(ts.MkAbs(args[1]), interestsFile)
	}
	if !ok {
		ts.Fatalf("no server runs on %s", args[1])
	}
	process, err := os.FindProcess(found.PID)
	ts.Check(err)
	ts.Check(process.Signal(signals[args[0]]))
}

func fetchCommand(ts *testscript.TestScript, _ bool, args []string) {
	admin := args[0] == "-admin"
	if admin {
		args = args[1:]
	}
	await(ts, admin, args[0], args[1], args[2])
}

// await asks until the answer matches; a server that starts or reloads has a minute.
func await(ts *testscript.TestScript, admin bool, data, path, pattern string) {
	want, err := regexp.Compile(pattern)
	ts.Check(err)
	var last string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		last = ask(filepath.Join(ts.MkAbs(data), instanceFile), admin, path)
		if want.MatchString(last) {
			return
		}
	}
	ts.Fatalf("%s never answered %q; the last answer was\n%s", path, pattern, last)
}

func ask(file string, admin bool, path string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	var found instance
	if err := jcs.Decode(text, &found); err != nil {
		return err.Error()
	}
	address := found.Listen
	if admin {
		address = found.Admin
	}
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return fmt.Sprintf("%s\n%s", response.Status, body)
}

func oneJSON(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if err := jcs.Check([]byte(strings.TrimSpace(text))); err != nil {
		ts.Fatalf("%s is not one JSON value: %v\n%s", args[0], err, text)
	}
}
