package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"sayso/business"
	"sayso/jcs"
)

// jsonl reads one record per line.
func (s *source) jsonl(in io.Reader) {
	lines := bufio.NewReaderSize(in, 64<<10)
	var buffer []byte
	for n, first := 1, true; ; n++ {
		line, err := readLine(lines, &buffer)
		r := &row{file: s.name, n: n}
		var rec *business.Record
		switch {
		case errors.Is(err, errLong):
			r.fail(ruleLimit, "", "shorten the record", "the line has more than %d bytes", MaxLine)
		case err != nil && !errors.Is(err, io.EOF):
			s.refuse(n, ruleFile, "try again with a file that can be read", "the file cannot be read to its end")
			return
		case len(bytes.TrimSpace(line)) > 0:
			list, bad := business.Members(line)
			switch {
			case bad != nil:
				r.fail(ruleFile, pointer(bad), "write one JSON object per line, in UTF-8 without byte order mark", "the line is not read: %v", bad)
			case len(list) == 1 && list[0].Name == "_meta":
				if !s.meta(r, list[0].Value, first) {
					s.emit(r, nil)
					return
				}
			case s.full(n):
				return
			default:
				rec = s.recordOf(r, list)
			}
			first = false
		}
		if !s.emit(r, rec) || errors.Is(err, io.EOF) {
			return
		}
	}
}

// meta compares the header of an export with the target. It reports whether reading may go on.
func (s *source) meta(r *row, raw jcs.Raw, first bool) bool {
	if !first {
		r.fail(ruleForm, "_meta", "take the line out", "only the first line may be _meta")
		return true
	}
	list, _ := members(raw)
	stated := ""
	for _, m := range list {
		if m.Name == "publisher" {
			stated, _ = text(m.Value)
		}
	}
	if stated == "" || s.o.Publisher != "" && stated != s.o.Publisher {
		r.fail(rulePublisher, "_meta.publisher", "import the file for that publisher, or take the _meta line out", "the export is of %q, not of %q", clip(stated), s.o.Publisher)
		return false
	}
	return true
}

// errLong says that a line was skipped because it is too long.
var errLong = errors.New("bundle: line too long")

// readLine returns the next line, io.EOF with the last one. A line that is too long is skipped to its end and gives errLong.
func readLine(in *bufio.Reader, buffer *[]byte) ([]byte, error) {
	*buffer = (*buffer)[:0]
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(*buffer)+len(part) > MaxLine+1; !long {
			if len(*buffer) == 0 && !errors.Is(err, bufio.ErrBufferFull) {
				return part, err
			}
			*buffer = append(*buffer, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLong
		case long && errors.Is(err, io.EOF):
			// The file ends here: the next call gives io.EOF again.
			return nil, errLong
		}
		return *buffer, err
	}
}

// pointer is where a JSON text was refused, "" for the whole.
func pointer(err error) string {
	if e := (*jcs.Error)(nil); errors.As(err, &e) {
		return clip(e.Pointer)
	}
	return ""
}
