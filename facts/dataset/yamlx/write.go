package yamlx

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	plainSafe = regexp.MustCompile(`^[A-Za-z/(][^\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{feff}#:&*!|>'"%@{}\[\],?` + "`" + `]*$`)
	urlSafe   = regexp.MustCompile(`^https?://[A-Za-z0-9./_~=&%+;@!$()*-]+$`)
	dateText  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

// Quote writes a valid UTF-8 string as a YAML scalar on one line: plain where no reader can misread it (words, dates, URLs), in double quotes otherwise.
func Quote(s string) string {
	if dateText.MatchString(s) || urlSafe.MatchString(s) {
		return s
	}
	if plainSafe.MatchString(s) && !strings.HasSuffix(s, " ") && !strings.HasPrefix(s, "---") {
		if kind, next := plainKind(s); kind == String && next == "" && !yesNo(s) {
			return s
		}
	}
	return quoteDouble(s)
}

// yesNo reports the YAML 1.1 booleans: text for us, but not for every tool that may read the file.
func yesNo(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}

func quoteDouble(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			escapeRune(&b, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escapeRune writes r, escaped when YAML does not print it or takes it for a line end.
func escapeRune(b *strings.Builder, r rune) {
	if r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
		b.WriteString(`\u`)
		h := strconv.FormatInt(int64(r), 16)
		b.WriteString("0000"[len(h):] + h)
		return
	}
	b.WriteRune(r)
}

// FromJSON writes canonical JSON text as a YAML value on one line: scalars as they are or quoted, arrays and objects in flow form.
func FromJSON(canonical string) string {
	var b strings.Builder
	for len(canonical) > 0 {
		r, size := utf8.DecodeRuneInString(canonical)
		escapeRune(&b, r)
		canonical = canonical[size:]
	}
	return b.String()
}

// Field is one line of a block: a member name and its value as YAML text.
type Field struct{ Name, Text string }

// Block writes fields as the lines of a mapping; fields without text are left out.
func Block(fields ...Field) string {
	var b strings.Builder
	for _, f := range fields {
		if f.Text != "" {
			b.WriteString(f.Name + ": " + f.Text + "\n")
		}
	}
	return b.String()
}

// Item writes a block as one item of a list: its first line behind "- ", the others beneath, all behind indent.
func Item(indent, block string) string {
	var b strings.Builder
	first := true
	for line := range strings.Lines(block) {
		if first {
			b.WriteString(indent + "- " + line)
			first = false
			continue
		}
		if strings.TrimSpace(line) != "" {
			line = indent + "  " + line
		}
		b.WriteString(line)
	}
	return b.String()
}
