package cli

import (
	"fmt"
	"io"
	"strings"

	"sayso/facts"
	"sayso/report"
)

// parts lists the four parts of a verification with the words people see.
func parts(v *facts.Verification) []struct {
	name string
	facts.Part
} {
	return []struct {
		name string
		facts.Part
	}{{"hash", v.Hash}, {"signature", v.Signature}, {"key acceptable", v.KeyAcceptable}, {"claim current", v.ClaimCurrent}}
}

// writeParts prints one line per part. The reason why a key is not acceptable belongs to its line; other reasons are notes below the four lines.
func writeParts(w io.Writer, v *facts.Verification) error {
	var lines, notes strings.Builder
	for _, p := range parts(v) {
		lines.WriteString(p.name + " " + p.Value)
		isKey := p.name == "key acceptable"
		switch reason := report.Clean(p.Reason); {
		case reason == "", isKey && v.Signature.Value == facts.PartAbsent: // an unsigned record needs no key
		case isKey && p.Value == facts.PartNo:
			lines.WriteString(" " + reason)
		default:
			notes.WriteString("note: " + p.name + ": " + reason + "\n")
		}
		lines.WriteString("\n")
	}
	for _, warning := range v.Warnings {
		notes.WriteString("warning: " + report.Clean(warning) + "\n")
	}
	_, err := io.WriteString(w, lines.String()+notes.String())
	return err
}

// writeFindings prints what stands beside the four parts.
func writeFindings(w io.Writer, findings []report.Finding) error {
	for _, f := range findings {
		line := fmt.Sprintf("%s: %s [%s]", f.Outcome, report.Clean(f.Message), f.Rule)
		if f.Reason != "" {
			line += "\n  " + report.Clean(f.Reason)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// outcome is what a reader may do with a record.
type outcome struct {
	refusal  string // why the record may not be passed on; "" when it may
	untested bool   // the refusal is only that something could not be fetched
}

// judge applies F§13: a record is passed on when its hash is right and it is either unsigned or signed with an acceptable key, and when nothing that is
// pinned has changed. Whether the claim is current is for the reader to see, not a reason to hide it.
func judge(v *facts.Verification, findings []report.Finding) outcome {
	var wrong, untested []string
	say := func(list *[]string, name string, p facts.Part) {
		text := name + " " + p.Value
		if p.Reason != "" {
			text += ": " + report.Clean(p.Reason)
		}
		*list = append(*list, text)
	}
	if v.Hash.Value != facts.PartValid {
		say(&wrong, "hash", v.Hash)
	}
	if v.Signature.Value == facts.PartInvalid {
		say(&wrong, "signature", v.Signature)
	}
	if v.KeyAcceptable.Value == facts.PartNo {
		say(&wrong, "key acceptable", v.KeyAcceptable)
	}
	if v.Signature.Value != facts.PartAbsent && v.KeyAcceptable.Value == facts.PartNotTested {
		say(&untested, "signature", v.Signature)
	}
	for _, f := range findings {
		if f.Outcome == report.Fail {
			wrong = append(wrong, report.Clean(f.Message))
		}
	}
	if len(wrong) > 0 {
		return outcome{refusal: strings.Join(wrong, "; ")}
	}
	return outcome{refusal: strings.Join(untested, "; "), untested: len(untested) > 0}
}
