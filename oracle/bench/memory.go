package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// grownVariable makes this program a child that does one thing and says how far its resident memory rose: what, file, number of records.
const grownVariable = "SAYSO_BENCH_GROWS"

// grownBy runs a child and returns by how many bytes its memory rose at most while it did what it was asked to.
func grownBy(what, file string, n int) (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%d", grownVariable, what, file, n))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("the child that measures the memory of %s: %w", what, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// grow is the child.
func grow(settings string) error {
	part := strings.Split(settings, "\n")
	if len(part) != 3 {
		return fmt.Errorf("a child needs three settings")
	}
	n, err := strconv.Atoi(part[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	var bytes int
	if part[0] == "dump" {
		err = withDump(ctx, part[1], n, func(url string) (err error) {
			bytes, err = rise(func() error { _, err := timedDump(url, n); return err })
			return err
		})
	} else {
		err = withRegistry(ctx, "", func(r *registryOf) (err error) {
			if err = r.establish(ctx, shop); err == nil {
				bytes, err = rise(func() error { return r.load(ctx, part[1], n) })
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	fmt.Println(bytes)
	return nil
}

// rise is the highest resident memory during f beyond what there was before it. Linux keeps the highest since the last reset.
func rise(f func() error) (int, error) {
	runtime.GC()
	debug.FreeOSMemory()
	time.Sleep(50 * time.Millisecond)
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("the highest resident memory is reset through Linux's /proc: %w", err)
	}
	before, err := memory("VmRSS")
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	highest, err := memory("VmHWM")
	return highest - before, err
}
