// Command bench measures sayso beside the baselines its bounds name, in one run on one machine, and prints for every number a row of a table and one line
//
//	bench: NAME ratio=R bound=B ok|short
//
// Ours and the baseline run in alternating rounds; a ratio is the median of the rounds' ratios, because a busy machine slows both sides of a round. Before
// anything is timed, each measurement compares what both sides produce and stops with an error when they do not do the same work. Times are in
// milliseconds and say how fast this machine was; only the ratios are bounded. What each bound compares is told in docs/numbers.md.
//
//	go run ./bench                 everything, in a few minutes on two cores
//	go run ./bench -run resolve    the subjects whose name contains "resolve"
//	SAYSO_BENCH_FULL=1             more rounds and questions, and the commands on 100,000 facts
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// plan is how much of everything is measured.
type plan struct {
	rounds    int           // of long measurements
	short     int           // rounds of short ones
	stretch   time.Duration // how long a round of a short measurement lasts
	questions int

	get, resolve, build []int // sizes of the catalogues
	command             []int // sizes of the folders that the whole command is timed on
	served              []int // sizes of the servers whose memory is measured
	publishers          []int // sizes of the registries
	records             []int // sizes of imports and exports
	publishes           int   // that another replica is watched for
	asked               []int // sizes of the publishers that are asked
	called              int   // records of the publisher that is called
	resident            int   // publishers whose answers are held in memory
	pushes              int   // of live readings
	projections         []int // sizes of the discovery index
	sessions            []int // numbers of open sessions of an agent
	together            int   // steps that arrive at once
	arrivals            int   // of questions in a round of an open loop
	withdrawals         int   // at a provider of two replicas
}

var (
	ordinary = plan{rounds: 5, short: 21, stretch: 40 * time.Millisecond, questions: 300,
		get: []int{1_000, 10_000, 100_000}, resolve: []int{1_000, 10_000, 100_000}, build: []int{1_000, 10_000, 100_000},
		command: []int{10_000}, served: []int{10_000, 100_000, 1_000_000},
		publishers: []int{10, 1_000, 10_000}, records: []int{1_000, 10_000, 100_000}, publishes: 100,
		asked: []int{10, 1_000, 10_000}, called: 1_000, resident: 1_000, pushes: 200, projections: []int{10_000, 100_000, 1_000_000},
		sessions: []int{10, 100, 1_000}, together: 32, arrivals: 600, withdrawals: 100}
	full = plan{rounds: 9, short: 41, stretch: 40 * time.Millisecond, questions: 600,
		get: ordinary.get, resolve: ordinary.resolve, build: ordinary.build,
		command: []int{10_000, 100_000}, served: ordinary.served,
		publishers: ordinary.publishers, records: ordinary.records, publishes: 400,
		asked: ordinary.asked, called: ordinary.called, resident: ordinary.resident, pushes: 1_000, projections: ordinary.projections,
		sessions: ordinary.sessions, together: ordinary.together, arrivals: 1_000, withdrawals: 300}
)

// subjects in the order they run.
var subjects = []struct {
	name    string
	measure func(*report, *plan) error
}{
	{"facts-get", measureGet},
	{"facts-verify", measureVerify},
	{"jcs", measureJCS},
	{"resolve", measureResolve},
	{"facts-build", measureBuild},
	{"record-bytes", measureRecordBytes},
	{"tools-list-bytes", measureToolsList},
	{"rss-per-fact", measureServed},
	{"xp-manifest", measureManifest},
	{"xp-import", measureImport},
	{"xp-dump", measureDump},
	{"xp-verify", measureChain},
	{"xp-replica", measureReplica},
	{"answer-question", measureQuestion},
	{"answer-compile", measureCompile},
	{"answer-call", measureCall},
	{"answer-resident", measureResident},
	{"answer-live", measureLive},
	{"gidp-candidates", measureCandidates},
	{"gidp-step", measureStep},
	{"gidp-open-loop", measureOpenLoop},
	{"gidp-withdraw", measureWithdraw},
}

func main() {
	if size := os.Getenv(childVariable); size != "" {
		exit(serveChild(size, os.Stdout))
	}
	if settings := os.Getenv(grownVariable); settings != "" {
		exit(grow(settings))
	}
	if size := os.Getenv(residentVariable); size != "" {
		exit(residentChild(size, os.Stdout))
	}
	only := flag.String("run", "", "measure the subjects whose name contains `text`")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the run to `file`")
	flag.Parse()
	p := ordinary
	if os.Getenv("SAYSO_BENCH_FULL") == "1" {
		p = full
	}
	exit(profiled(*profile, func() error { return run(&report{w: os.Stdout}, &p, *only) }))
}

// profiled runs with a CPU profile when a file is named.
func profiled(file string, run func() error) error {
	if file == "" {
		return run()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return errors.Join(err, out.Close())
	}
	err = run()
	pprof.StopCPUProfile()
	return errors.Join(err, out.Close())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run measures the subjects whose name contains only.
func run(r *report, p *plan, only string) error {
	begin := time.Now()
	fmt.Fprintf(r.w, "%s, %s/%s, %d cores. Times in ms; medians of at least %d alternating rounds.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), p.rounds)
	measured := false
	for _, s := range subjects {
		if !strings.Contains(s.name, only) {
			continue
		}
		measured = true
		if err := s.measure(r, p); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		runtime.GC()
	}
	if !measured {
		return errors.New("no subject has a name that contains " + only)
	}
	held := 0
	for _, l := range r.lines {
		if l.holds() {
			held++
		}
	}
	fmt.Fprintf(r.w, "\n%d of %d bounds hold; %.0f s.\n", held, len(r.lines), time.Since(begin).Seconds())
	return nil
}
