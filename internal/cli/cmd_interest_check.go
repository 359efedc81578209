package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/internal/agent"
	"sayso/internal/agent/interestfile"
	"sayso/internal/keyfile"
	"sayso/report"
)

func init() { register("interest", newInterestCheck) }

func newInterestCheck(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Say what an interest would tell whom, before anything happens",
		Long: "Check reads an interest file and says what is wrong or unwise in it, what a provider would publish of it, and for each attribute the most that all counterparties together can learn by " +
			"questions, in bits. It ends with four questions about the market, because some markets are not served by private interests.\n\n" +
			"The bits bound what questions tell. What you approve yourself, a value that you disclose, the time at which you act and attributes that hang together are beyond them.\n\n" +
			"Check sends nothing and needs no data folder; with one it also looks whether others share your origin. Exit 1 when the interest cannot be used as it is; warnings leave it at 0.",
		Example: "  sayso interest check interest.yaml\n  sayso interest check interest.yaml --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := e.readInterest(args[0])
			if err != nil {
				return err
			}
			outlook, err := e.outlook(doc)
			if err != nil {
				return interestFailure(err)
			}
			outlook.Report.Subject = inputName(args[0])
			if err := e.answer(outlook, func(w io.Writer) error { return e.writeOutlook(w, &outlook) }); err != nil {
				return err
			}
			if outlook.Report.Failed() {
				return answered(exitFailed)
			}
			return nil
		},
	}
}

const maxInterestFile = interestfile.MaxSize

// readInterest reads an interest file. It holds private values, so that others should not be able to.
func (e *env) readInterest(name string) (*interest.Interest, error) {
	f, err := e.openInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxInterestFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxInterestFile {
		return nil, failedError("%s has more than %d bytes, so it is no interest", inputName(name), maxInterestFile)
	}
	doc, err := interestfile.Parse(inputName(name), text)
	if err != nil {
		return nil, failedError("%v", err)
	}
	if info, err := os.Stat(name); name != "-" && err == nil && info.Mode().Perm()&0o077 != 0 {
		e.note("warning: others on this machine may read %s: chmod 600 %s", name, shellWord(name))
	}
	return doc, nil
}

// outlook looks an interest over beside those of the data folder, where they can be opened without asking anybody.
func (e *env) outlook(doc *interest.Interest) (agent.Outlook, error) {
	others := report.Finding{
		Rule: "GI-ORIGIN", Outcome: report.Warning, Place: "origin", Message: "No other principal shares the origin: its host name identifies you and links all of your projections.",
		Next: "Serve several principals at one origin, or accept it.",
	}
	switch sealed, err := e.vaultState(); {
	case err != nil:
		return agent.Outlook{}, err
	case sealed == vaultOpen:
		i, err := e.openInterests(interestOptions{})
		if err != nil {
			return agent.Outlook{}, err
		}
		o, err := i.Check(e.ctx, doc)
		return o, errors.Join(err, i.close())
	case sealed == vaultSealed:
		others.Outcome, others.Message, others.Next = report.NotTested, "Whether other principals share the origin was not looked at.", ""
		others.Reason = "The interests of the data folder are sealed with a passphrase, and no file names it."
	}
	o, err := agent.Check(profile.Shipped(), doc)
	if err == nil {
		o.Report.Add(others)
		o.Report.Sort()
	}
	return o, err
}

// vaultState says whether there are interests in the data folder, and whether they open without a question.
type vaultState int

const (
	vaultNone vaultState = iota
	vaultOpen
	vaultSealed
)

func (e *env) vaultState() (vaultState, error) {
	keys := filepath.Join(e.config.Data, "keys")
	if _, err := os.Lstat(filepath.Join(keys, "gidp")); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return vaultNone, err
	}
	if _, err := os.Lstat(filepath.Join(keys, keyfile.PlainIdentity)); err == nil || e.config.PassphraseFile != "" {
		return vaultOpen, nil
	}
	return vaultSealed, nil
}

// writeOutlook prints what is found, what is published and what can be learnt.
func (e *env) writeOutlook(w io.Writer, o *agent.Outlook) error {
	if err := o.Report.WriteText(w, report.TextOptions{Color: e.wantsColor(w), Width: e.textWidth()}); err != nil {
		return err
	}
	p := &printer{w: w}
	if p.err = e.writeExposure(w, o); p.err != nil {
		return p.err
	}
	p.line("")
	p.line("before you go on")
	for _, q := range o.Questions {
		p.line("%s", indented("- "+e.prose(q, 4), "  "))
	}
	return p.err
}

// writeExposure prints what would be published of an interest, and what questions can tell of it.

func (e *env) writeExposure(w io.Writer, o *agent.Outlook) error {
	p := &printer{w: w}
	p.line("")
	if o.Public == nil {
		p.line("published     nothing: no provider can return it")
	} else {
		p.line("published     at a provider, for everybody who asks it")
		var t table
		for _, m := range []struct {
			name string
			list []string
		}{{"categories", o.Public.Categories}, {"domains", o.Public.Domains}, {"geographies", o.Public.Geographies}, {"relation", o.Public.Relation}} {
			if len(m.list) > 0 {
				t.add(m.name, firstOf(m.list, 12))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(o.Public.Beside)) {
			t.add(name, firstOf(o.Public.Beside[name], 12), "where the provider has it")
		}
		p.table(&t, "  ")
	}
	p.line("")
	p.line("questions     the most that all counterparties together can learn, whatever they ask and however often")
	var t table
	var absent []string
	for _, a := range o.Attributes {
		if a.Kind == "absent" {
			absent = append(absent, a.Key)
			continue
		}
		t.add(a.Key, classText(a.Class), exposureText(&a))
	}
	p.table(&t, "  ")
	if len(absent) > 0 {
		p.line("%s", indented(e.prose("not held, answered unknown: "+strings.Join(absent, " "), 4), "  "))
	}
	p.line("in all        %s, beside what is told on request and what you approve", bitsText(o.Bits))
	return p.err
}

// exposureText is one attribute in words.
func exposureText(a *agent.Exposure) string {
	text := ""
	switch a.Kind {
	case "open":
		text = "the value itself, on request"
		if strings.HasPrefix(a.Class[""], "network") {
			text = "the value itself, to members who ask"
		}
	case "cells":
		text = fmt.Sprintf("in which of %d cells it lies, %s", a.Cells, bitsText(*a.Bits))
		if a.WorstBits != nil {
			text += fmt.Sprintf(" (%.2f for the least likely)", *a.WorstBits)
		}
	case "labels":
		text = "its place on a coarse cut, " + bitsText(*a.Bits)
	case "audited":
		text = "within its budget, " + bitsText(*a.Bits)
	case "closed":
		text = "nothing: every question is declined"
	case "barred":
		text = "nothing, ever"
	case "identity":
		text = "nothing before you agree to reveal it"
	default:
		text = a.Kind
	}
	return text
}

func bitsText(bits float64) string {
	if bits == 1 {
		return "1 bit"
	}
	return fmt.Sprintf("%.4g bits", bits)
}
