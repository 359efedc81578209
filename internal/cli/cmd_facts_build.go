package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/internal/web"
)

func init() { register("facts", newFactsBuild) }

func newFactsBuild(e *env) *cobra.Command {
	var o dataset.BuildOptions
	var asOf string
	var verify bool
	c := &cobra.Command{
		Use:   "build [DIR] --out OUT --origin URL",
		Short: "Build a static site from a folder of figures",
		Long: "Build writes a site that any file server can publish: a record and a page for every figure, the index, changelog, discovery documents and, at L3, keys and " +
			"signatures. The bytes depend on the folder, the origin, the level and the day alone, so that building again gives the same files. OUT is replaced whole when " +
			"the build succeeds and left as it was when it does not.\n\n" +
			"A static site shows the values in force on one day; the answer names the last day on which it is right. With --verify nothing is written: the site is built in " +
			"memory and compared with OUT, and a difference is exit 1.",
		Example: "  sayso facts build figures --out site --origin https://figures.example\n" +
			"  sayso facts build figures --out site --origin https://figures.example --level L1 --as-of 2026-11-29\n" +
			"  sayso facts build figures --out site --origin https://figures.example --verify",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			o.Origin = e.config.Origin
			switch {
			case o.Out == "":
				return usageError("--out is missing: the folder to write the site to").withRun(cmd.CommandPath() + " --help")
			case o.Origin == "":
				return usageError("--origin is missing: what the absolute URLs of the site begin with").withRun(cmd.CommandPath() + " --help")
			}
			if o.AsOf, err = dateFlag("as-of", asOf); err != nil {
				return err
			}
			o.Out, o.Today, o.Pages = filepath.Clean(o.Out), today(), web.Pages()
			if verify {
				return e.verifyBuild(dir, o)
			}
			return e.build(dir, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Out, "out", "", "folder to write the site to")
	flags.String("origin", "", "what absolute URLs begin with, https://HOST")
	flags.StringVar(&o.Level, "level", "", "L1 (unsigned) or L3 (signed); default: L3 when the folder is signed")
	flags.StringVar(&asOf, "as-of", "", "day whose values are shown (default: today, UTC)")
	flags.BoolVar(&verify, "verify", false, "compare OUT with a build in memory and write nothing")
	return c
}

type buildResult struct {
	Folder string `json:"folder"`
	Out    string `json:"out"`
	Origin string `json:"origin"`
	*dataset.BuildResult
	Check string `json:"check"` // the command that checks the site once it is published
}

func (e *env) build(dir string, o dataset.BuildOptions) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	end := e.showKeys("building", &o)
	built, err := dataset.Build(e.ctx, folder, o)
	end()
	if err != nil {
		return actFailure(dir, err)
	}
	result := buildResult{dir, o.Out, o.Origin, built, "sayso check " + shellWord(o.Origin)}
	return e.answer(result, result.write)
}

// showKeys lets a build report its progress; the function it returns ends the report.
func (e *env) showKeys(label string, o *dataset.BuildOptions) (end func()) {
	var bar *progress
	shown := 0
	o.Progress = func(done, total int) {
		if bar == nil {
			bar = e.progress(label, int64(total))
		}
		bar.add(int64(done - shown))
		shown = done
	}
	return func() {
		if bar != nil {
			bar.end()
		}
	}
}

func (r buildResult) write(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s in %s, %s, level %s, in %s", plural(r.Keys, "figure"), plural(r.Files, "file"), byteText(r.Bytes), r.Level, r.Out)
	p.line("%s", untilText(r.Until))
	p.line("check:  %s", r.Check)
	return p.err
}

// untilText says how long a static site tells the truth.
func untilText(until facts.Date) string {
	if until.IsZero() {
		return "right:  until a figure of the folder changes; no other change is known"
	}
	return "right:  until " + until.String() + " (UTC); build again for " + until.AddDays(1).String()
}

func byteText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

type verifyBuildResult struct {
	Folder    string   `json:"folder"`
	Out       string   `json:"out"`
	Origin    string   `json:"origin"`
	Identical bool     `json:"identical"`
	Differing []string `json:"differing"` // files that differ, are missing or do not belong there
}

func (e *env) verifyBuild(dir string, o dataset.BuildOptions) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Out); err != nil {
		return err
	}
	end := e.showKeys("comparing", &o)
	differing, err := dataset.Verify(e.ctx, folder, o)
	end()
	if err != nil {
		return actFailure(dir, err)
	}
	result := verifyBuildResult{dir, o.Out, o.Origin, len(differing) == 0, differing}
	if err := e.answer(result, func(w io.Writer) error {
		p := &printer{w: w}
		if result.Identical {
			p.line("%s is what a build of %s gives", o.Out, dir)
		}
		for _, name := range differing {
			p.line("differs  %s", name)
		}
		return p.err
	}); err != nil {
		return err
	}
	if !result.Identical {
		return answered(exitFailed)
	}
	return nil
}
