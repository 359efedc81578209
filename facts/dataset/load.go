package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/report"
)

// Limits of the files that are not YAML.
const (
	maxLineFile = 1 << 30
	maxLine     = 64 << 10
	maxScanned  = 4 << 20 // bytes of any other file that are searched for private keys
)

// Load reads a folder. It always returns a folder; what could not be read is missing from it and named in the report, which carries the findings of
// VF-D-001 (shape), VF-D-004 (numbers), VF-D-011 and VF-D-012 (form of the line files) and VF-D-013 (private keys). Files are read over all cores.
func Load(fsys fs.FS) (*Folder, *report.Report) {
	l := &loader{fsys: fsys, folder: &Folder{}}
	l.list()
	l.readAll()
	l.folder.loaded = l.findings.list
	sortFindings(l.folder.loaded)
	return l.folder, newReport(l.folder.loaded, false)
}

type loader struct {
	fsys   fs.FS
	folder *Folder
	findings
	topics, candidates []string
	others             []string // every other file
}

// list walks the folder once.
func (l *loader) list() {
	err := fs.WalkDir(l.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			l.fail(ruleShape, name, "the file or folder cannot be read", cause(err), "check that it exists and may be read")
			return nil
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			l.fail(ruleShape, name, "a symbolic link or special file stands in the folder", "it could lead outside the folder", "put the file itself here")
			return nil
		}
		root, _, _ := strings.Cut(name, "/")
		inside := root != name && (root == topicsDir || root == candidatesDir)
		switch {
		case inside && path.Ext(name) == ".yaml" && root == topicsDir:
			l.topics = append(l.topics, name)
		case inside && path.Ext(name) == ".yaml":
			l.candidates = append(l.candidates, name)
		default:
			if inside && path.Ext(name) == ".yml" {
				l.fail(ruleShape, name, "the file ends in .yml", "only files that end in .yaml are read", "rename it")
			}
			l.others = append(l.others, name)
		}
		return nil
	})
	if err != nil {
		l.fail(ruleShape, ".", "the folder cannot be read", cause(err), "check that it exists and may be read")
	}
	slices.Sort(l.topics)
	slices.Sort(l.candidates)
}

// cause is an operating system error without the path of the machine.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

// readAll reads every file, each into its own slot, over all cores.
func (l *loader) readAll() {
	topics := make([]Topic, len(l.topics)+len(l.candidates))
	var jobs []func(*findings)
	for i, name := range slices.Concat(l.topics, l.candidates) {
		jobs = append(jobs, func(f *findings) { topics[i] = l.readTopic(f, name, i >= len(l.topics)) })
	}
	for _, name := range l.others {
		jobs = append(jobs, func(f *findings) { l.readOther(f, name) })
	}
	if !slices.Contains(l.others, publisherFile) {
		l.fail(ruleShape, publisherFile, "the folder holds no publisher.yaml", "nothing says who publishes",
			"run facts init on an empty folder, or name the right one")
	}
	collected := make([]findings, len(jobs))
	parallel(len(jobs), func(i int) { jobs[i](&collected[i]) })
	for i := range collected {
		l.findings.list = append(l.findings.list, collected[i].list...)
	}
	l.folder.Topics, l.folder.Candidates = topics[:len(l.topics):len(l.topics)], topics[len(l.topics):]
}

// parallel calls do for 0 to n-1 over all cores and returns when all calls have.
func parallel(n int, do func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}

// steps tells how far a long act is, from one goroutine at a time.
type steps struct {
	show  func(done, total int) // nil: nobody wants to know
	total int

	mu   sync.Mutex
	done int
}

func (s *steps) add() {
	if s.show == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.show(s.done, s.total)
}

func (l *loader) open(f *findings, name string, limit int64) (data []byte, ok bool) {
	file, err := l.fsys.Open(name)
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	switch {
	case err != nil:
		f.fail(ruleShape, name, "the file cannot be read", cause(err), "check that it exists and may be read")
		return nil, false
	case int64(len(data)) > limit:
		f.fail(ruleShape, name, fmt.Sprintf("the file has more than %d bytes", limit), "every file is bounded", "split it")
		return nil, false
	}
	return data, true
}

// readYAML reads one YAML file. The tree is dropped by the caller when it has been converted.
func (l *loader) readYAML(f *findings, name string) *yamlx.Node {
	data, ok := l.open(f, name, yamlx.MaxSize)
	if !ok {
		return nil
	}
	scanSecrets(f, name, data)
	root, err := yamlx.Parse(data)
	if err != nil {
		e := err.(*yamlx.Error)
		f.fail(ruleShape, place(name, Position{int32(e.Line), int32(e.Col)}), e.Message, "files are read under a strict profile of YAML", e.Next)
		return nil
	}
	return root
}

func (l *loader) readTopic(f *findings, name string, candidate bool) Topic {
	root := l.readYAML(f, name)
	if root == nil {
		return Topic{File: name, broken: true}
	}
	d := &decoder{findings: f, file: name, candidate: candidate}
	t := d.topic(root)
	t.broken = len(f.list) > 0
	return t
}

func (l *loader) readOther(f *findings, name string) {
	switch name {
	case publisherFile:
		if root := l.readYAML(f, name); root != nil {
			d := &decoder{findings: f, file: name}
			l.folder.Publisher = d.publisher(root)
		}
	case confirmationsFile:
		l.folder.Confirmations = readLines(l, f, name, ruleShape, parseConfirmation)
	case changelogFile:
		l.folder.Changes = readLines(l, f, name, ruleChangelog, parseChange)
	case signaturesFile:
		l.folder.HasSignatures = true
		l.folder.Signatures = l.readSignatures(f)
	case keysFile:
		l.readKeys(f)
	default:
		l.scanFile(f, name)
	}
}

// readLines reads a line file: every line ends in LF, none is empty.
func readLines[T any](l *loader, f *findings, name, rule string, parse func([]byte) (T, error)) []T {
	file, err := l.fsys.Open(name)
	if err != nil {
		f.fail(ruleShape, name, "the file cannot be read", cause(err), "check that it may be read")
		return nil
	}
	defer file.Close()
	var out []T
	in := bufio.NewReaderSize(io.LimitReader(file, maxLineFile), maxLine)
	for n := int32(1); ; n++ {
		line, err := in.ReadSlice('\n')
		at := place(name, Position{n, 1})
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return out
		case errors.Is(err, io.EOF):
			f.fail(rule, at, "the last line does not end in a line feed", "the file may have been cut off", "restore the file from version control")
			return out
		case errors.Is(err, bufio.ErrBufferFull):
			f.fail(rule, at, fmt.Sprintf("the line has more than %d bytes", maxLine), "every line is bounded", "restore the file from version control")
			return out
		case err != nil:
			f.fail(rule, at, "the file cannot be read", cause(err), "check that it may be read")
			return out
		}
		scanSecrets(f, name, line)
		v, err := parse(line[:len(line)-1])
		if err != nil {
			f.fail(rule, at, err.Error(), "the file is written by commands only", "restore the line from version control")
			continue
		}
		out = append(out, v)
	}
}

// parseChange reads a changelog line, which must be the canonical form of its entry.
func parseChange(line []byte) (facts.Entry, error) {
	e, err := facts.ParseEntry(line)
	if err != nil {
		return e, err
	}
	if !bytes.Equal(e.AppendCanonical(nil), line) {
		return e, errors.New("the line is not in canonical form (RFC 8785)")
	}
	return e, nil
}

// confirmationWire is a confirmation with its value as text.
type confirmationWire struct {
	Key           string     `json:"key"`
	Period        *string    `json:"period"`
	EffectiveFrom facts.Date `json:"effectiveFrom"`
	Hash          string     `json:"hash"`
	VerifiedDate  facts.Date `json:"verifiedDate"`
	By            string     `json:"by"`
	Value         jcs.Raw    `json:"value"`
	Fetched       *Fetched   `json:"fetched"`
}

func parseConfirmation(line []byte) (Confirmation, error) {
	var w confirmationWire
	if err := jcs.DecodeKnown(line, &w); err != nil {
		return Confirmation{}, err
	}
	v, err := facts.ParseValue(w.Value)
	switch {
	case err != nil:
		return Confirmation{}, fmt.Errorf("value: %w", err)
	case w.Key == "" || w.Hash == "" || w.VerifiedDate.IsZero() || w.By == "":
		return Confirmation{}, errors.New("one of key, hash, verifiedDate and by is missing")
	case w.By == ByConversion && w.Fetched != nil:
		return Confirmation{}, errors.New(`by "conversion" says that nobody read the source, yet fetched is not null`)
	}
	return Confirmation{w.Key, w.Period, w.EffectiveFrom, w.Hash, w.VerifiedDate, w.By, v, w.Fetched}, nil
}

// signaturesWire is signatures.json.
type signaturesWire struct {
	Format     string            `json:"format"`
	Signatures []StoredSignature `json:"signatures"`
}

func (l *loader) readSignatures(f *findings) []StoredSignature {
	data, ok := l.open(f, signaturesFile, maxLineFile)
	if !ok {
		return nil
	}
	scanSecrets(f, signaturesFile, data)
	var w signaturesWire
	err := jcs.DecodeKnown(data, &w)
	if err == nil && w.Format != SignaturesFormat {
		err = fmt.Errorf("format is %q, not %q", w.Format, SignaturesFormat)
	}
	if err != nil {
		f.fail(ruleSignature, signaturesFile, err.Error(), "the file is written by facts sign only", "restore it from version control or sign again")
		return nil
	}
	return w.Signatures
}

func (l *loader) readKeys(f *findings) {
	data, ok := l.open(f, keysFile, maxScanned)
	if !ok {
		return
	}
	if scanSecrets(f, keysFile, data) {
		return
	}
	set, err := jwk.ParseSet(data)
	if err != nil {
		f.fail(ruleSignature, keysFile, err.Error(), "readers refuse a key set that holds anything else", "restore it from version control")
		return
	}
	for _, k := range set.Keys {
		for _, d := range [][2]string{{"validFrom", k.ValidFrom}, {"retired", k.Retired}, {"revoked", k.Revoked}} {
			if d[1] == "" && d[0] != "validFrom" {
				continue
			}
			if _, err := facts.ParseDate(d[1]); err != nil {
				f.fail(ruleSignature, keysFile, fmt.Sprintf("key %s: %s: %v", k.Kid, d[0], err), "readers compare these days", "write YYYY-MM-DD")
			}
		}
	}
	l.folder.Keys = set
}

// scanSecrets reports private key material; the finding never repeats it.
func scanSecrets(f *findings, name string, data []byte) (found bool) {
	what, at := findSecret(data)
	if what == "" {
		return false
	}
	line := int32(1 + bytes.Count(data[:at], []byte("\n")))
	f.fail(rulePrivateKey, place(name, Position{line, 1}), what+" stands in the folder",
		"a private key never belongs into a dataset: whoever reads the folder could sign as the publisher",
		"remove the file, also from the history of the repository, revoke the key and make another")
	return true
}

// findSecret names the first private key of a text and its offset.
func findSecret(data []byte) (what string, at int) {
	for i := 0; ; {
		n := bytes.Index(data[i:], []byte("PRIVATE KEY"))
		if n < 0 {
			break
		}
		i += n
		line := data[bytes.LastIndexByte(data[:i], '\n')+1 : i]
		if bytes.Contains(line, []byte("-----BEGIN ")) {
			return "a PEM private key", i
		}
		i++
	}
	if i := bytes.Index(data, []byte("AGE-SECRET-KEY-1")); i >= 0 {
		return "an age secret key", i
	}
	if jwk.Sealed(data) {
		return "a sealed private key", 0
	}
	for i := bytes.IndexByte(data, ':'); i >= 0; {
		if isPrivateMember(data, i) {
			return "a private JWK (member d)", i
		}
		n := bytes.IndexByte(data[i+1:], ':')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return "", 0
}

// isPrivateMember reports whether the colon at i stands between a member named d and at least 43 characters of base64url: the private half of a JWK,
// in JSON or YAML.
func isPrivateMember(data []byte, i int) bool {
	name := bytes.TrimRight(data[:i], " \t\r\n\"'")
	if len(name) == 0 || name[len(name)-1] != 'd' || len(name) > 1 && isBase64URL(name[len(name)-2]) {
		return false
	}
	value := bytes.TrimLeft(data[i+1:min(len(data), i+120)], " \t\r\n\"'")
	n := 0
	for n < len(value) && isBase64URL(value[n]) {
		n++
	}
	return n >= 43
}

func isBase64URL(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// scanFile searches a file that is not part of the format.
func (l *loader) scanFile(f *findings, name string) {
	file, err := l.fsys.Open(name)
	if err != nil {
		f.fail(ruleShape, name, "the file cannot be read", cause(err), "check that it may be read")
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxScanned))
	if err != nil {
		f.fail(ruleShape, name, "the file cannot be read", cause(err), "check that it may be read")
		return
	}
	scanSecrets(f, name, data)
}
