package facts

// converted marks a figure that was carried over from a published conversion and that nobody has read at its source.
const converted = "(converted, not re-read)"

// AppendText appends the one-line text form with its LF (F§3.3).
func (a *Answer) AppendText(dst []byte) []byte {
	switch a.Outcome {
	case OutcomeNotHeld:
		return a.appendNotHeldText(dst)
	case OutcomeUnknown:
		dst = append(dst, ErrorUnknownKey...)
		dst = append(append(dst, ' '), oneLine(a.RequestedKey)...)
		for i := range a.Candidates {
			dst = append(dst, separator(i, "; try: ")...)
			dst = append(dst, a.Candidates[i].Key...)
		}
		return append(dst, '\n')
	}
	v := &a.snapshot.values[a.value]
	if v.withdrawn.IsZero() {
		dst = append(dst, v.valueJSON().Text()...)
	} else {
		dst = v.withdrawn.Append(append(dst, "withdrawn "...))
	}
	if unit := v.unitText(); unit != "" {
		dst = append(append(dst, ' '), unit...)
	}
	dst = appendSpan(dst, v.periodText(), v.from(), v.to)
	dst = v.verified.Append(append(dst, " verified "...))
	if a.Status != "" {
		dst = append(append(dst, ' '), a.Status...)
	}
	if v.flags&flagConverted != 0 {
		dst = append(append(dst, ' '), converted...)
	}
	dst = append(append(dst, ' '), v.sourceURL()...)
	return append(dst, '\n')
}

// appendSpan appends the parenthesis of a record: what is not null of period, from and to; nothing when all are.
func appendSpan(dst []byte, period string, from, to Date) []byte {
	if period == "" && from.IsZero() && to.IsZero() {
		return dst
	}
	dst = append(append(dst, " ("...), period...)
	if !from.IsZero() {
		if period != "" {
			dst = append(dst, ", "...)
		}
		dst = from.Append(append(dst, "from "...))
	}
	if !to.IsZero() {
		switch {
		case !from.IsZero():
			dst = append(dst, ' ')
		case period != "":
			dst = append(dst, ", "...)
		}
		dst = to.Append(append(dst, "to "...))
	}
	return append(dst, ')')
}

// appendNotHeldText lists the labels of what is held; where a label names several values, and where there is none, it lists the days.
func (a *Answer) appendNotHeldText(dst []byte) []byte {
	dst = append(append(dst, "not held "...), a.Key...)
	for i, h := range a.periodsHeld() {
		dst = append(dst, separator(i, "; held: ")...)
		if h.Period != "" && a.Reason != ReasonSeveralValues {
			dst = append(dst, h.Period...)
			continue
		}
		dst = h.From.Append(dst)
		dst = append(dst, ".."...)
		dst = h.To.Append(dst)
	}
	return append(dst, '\n')
}

// separator stands before the i-th element of a list that first opens.
func separator(i int, first string) string {
	if i == 0 {
		return first
	}
	return ", "
}

// AppendText appends one line per key; a miss is `miss <requestedKey>: <error>`.
func (b *Batch) AppendText(dst []byte) []byte {
	for i := range b.Answers {
		a := &b.Answers[i]
		if a.Outcome == OutcomeRecord {
			dst = a.AppendText(dst)
			continue
		}
		requested, problem := a.RequestedKey, ErrorUnknownKey
		if a.Outcome == OutcomeNotHeld {
			problem = a.Reason
			if requested == "" {
				requested = a.Key
			}
		}
		dst = append(append(dst, "miss "...), oneLine(requested)...)
		dst = append(append(dst, ": "...), problem...)
		dst = append(dst, '\n')
	}
	return dst
}
