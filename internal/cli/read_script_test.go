package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sayso/examples"
	"sayso/internal/config"
	"sayso/internal/demo"
	"sayso/internal/server"
	"sayso/jcs"
)

// publisherCommand sets ORIGIN. The publisher of the sample figures for the uk and of software dates runs in this process, for all scripts together, and is
// served by the handlers of serve.
func publisherCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		origin, err := samplePublisher()
		ts.Check(err)
		ts.Setenv("ORIGIN", origin)
		return
	}
	var found instance
	ts.Check(jcs.Decode([]byte(ts.ReadFile(filepath.Join(args[0], instanceFile))), &found))
	ts.Setenv("ORIGIN", found.Origin)
}

var samplePublisher = sync.OnceValues(func() (origin string, err error) {
	dir, err := os.MkdirTemp("", "sayso-cli-test-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // the snapshot is in memory
	listening := httptest.NewUnstartedServer(nil)
	origin = "http://" + listening.Listener.Addr().String()
	key, err := demo.SigningKey(filepath.Join(dir, "keys"), demo.Prefix, nil, today())
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "facts")
	if _, err := demo.Prepare(examples.Facts, []string{"facts/uk", "facts/eol"}, folder, origin, key, today()); err != nil {
		return "", err
	}
	catalogue, err := server.OpenCatalogue(folder, origin, time.Now)
	if err != nil {
		return "", err
	}
	settings, err := config.Load(config.Inputs{})
	listening.Config.Handler = (&env{ctx: context.Background(), err: io.Discard, config: settings}).factsHandler(catalogue, origin)
	listening.Start()
	return origin, err
})

func saveCommand(ts *testscript.TestScript, _ bool, args []string) {
	response, err := http.Get(ts.Getenv("ORIGIN") + args[0])
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), body, 0o600))
}

// forgeCommand is a publisher in the middle: it answers as the origin does, under its own name, with one text replaced.
func forgeCommand(ts *testscript.TestScript, _ bool, args []string) {
	origin := ts.Getenv("ORIGIN")
	forger := httptest.NewUnstartedServer(nil)
	forged := "http://" + forger.Listener.Addr().String()
	forger.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, origin+r.URL.RequestURI(), r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		request.Header = r.Header.Clone()
		request.Header.Del("Accept-Encoding")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		w.WriteHeader(response.StatusCode)
		io.WriteString(w, strings.NewReplacer(origin, forged, args[0], args[1]).Replace(string(body)))
	})
	forger.Start()
	ts.Defer(forger.Close)
	ts.Setenv("FORGED", forged)
}
