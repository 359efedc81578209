//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// errMissing says that there is no PostgreSQL to start.
var errMissing = errors.New("PostgreSQL is not installed: install Debian's package postgresql")

type cluster struct {
	folder   string // of this cluster: data, socket, log
	programs string // where the server's programs are
	owner    *syscall.Credential
	server   *exec.Cmd
	names    atomic.Int64
}

var start = sync.OnceValues(func() (*cluster, error) {
	c := &cluster{}
	if err := c.start(); err != nil {
		c.stop()
		return nil, err
	}
	running = c
	return c, nil
})

var running *cluster

// Main runs the tests of a binary, then stops the cluster if one was started.
func Main(m *testing.M) {
	code := m.Run()
	if running != nil {
		running.stop()
	}
	os.Exit(code)
}

// Database makes an empty database and returns its address. It is dropped with the cluster.
func Database(t testing.TB) string {
	t.Helper()
	c, err := start()
	if errors.Is(err, errMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	address, err := c.database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func (c *cluster) database(ctx context.Context) (string, error) {
	name := fmt.Sprintf("test%d", c.names.Add(1))
	return c.address(name), c.exec(ctx, "CREATE DATABASE "+name+" ENCODING 'UTF8' TEMPLATE template0")
}

func (c *cluster) address(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("sayso"), Path: "/" + database, RawQuery: url.Values{"host": {c.folder}}.Encode()}
	return u.String()
}

func (c *cluster) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.address("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// programs is the folder of the server's programs: that of the one in PATH, else Debian's of the newest version.
func programs() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(paths) == 0 {
		return "", errMissing
	}
	return filepath.Dir(slices.MaxFunc(paths, func(a, b string) int { return version(a) - version(b) })), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// identity is the user the cluster runs as, nil for the one who runs the tests.
func identity() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errMissing
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (c *cluster) start() error {
	folder, err := programs()
	if err != nil {
		return err
	}
	owner, err := identity()
	if err != nil {
		return err
	}
	// A socket's path has about 100 bytes, fewer than a test's own folder may need.
	if c.folder, err = os.MkdirTemp("/tmp", "pgtest"); err != nil {
		return err
	}
	if owner != nil {
		if err := os.Chown(c.folder, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(c.folder, "data")
	if out, err := c.command(owner, filepath.Join(folder, "initdb"), "--pgdata", data, "--username", "sayso", "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	c.owner, c.programs = owner, folder
	return c.launch()
}

// launch starts the server over the cluster's data.
func (c *cluster) launch() error {
	c.server = c.command(c.owner, filepath.Join(c.programs, "postgres"), "-D", filepath.Join(c.folder, "data"), "-k", c.folder, "-c", "listen_addresses=",
		"-c", "max_connections=200", "-c", "logging_collector=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	log, err := os.OpenFile(filepath.Join(c.folder, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		c.server = nil
		return err
	}
	return c.wait()
}

// Crash makes the server of this binary end at once, without writing back what it holds, and starts it again: it recovers from its log.
func Crash(t testing.TB) {
	t.Helper()
	running.server.Process.Signal(syscall.SIGQUIT)
	running.server.Wait()
	if err := running.launch(); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) command(owner *syscall.Credential, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.folder
	// A killed test binary takes its server with it; a signal from the terminal goes to the binary, which stops it in order.
	cmd.SysProcAttr = attributes(owner)
	return cmd
}

func (c *cluster) wait() error {
	deadline := time.Now().Add(60 * time.Second)
	for {
		err := c.exec(context.Background(), "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *cluster) stop() {
	if c.server != nil {
		c.server.Process.Signal(syscall.SIGQUIT) // at once: what it holds is thrown away
		c.server.Wait()
	}
	if c.folder != "" {
		os.RemoveAll(c.folder)
	}
}
