package facts

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sayso/jws"
)

// maxDatasetErrors is how many problems one refusal names.
const maxDatasetErrors = 20

// DatasetError is one reason why NewSnapshot refused a dataset.
type DatasetError struct {
	Place   string // file:line:column, "" when the dataset was not read from a folder
	Key     string // the fact's key, "" when the problem is not one fact's
	Problem string
}

func (e *DatasetError) Error() string {
	var parts []string
	for _, part := range []string{e.Place, e.Key, e.Problem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// compiler builds one snapshot. The catalogue is checked and indexed by one goroutine; the values are checked, verified and encoded by several, each writing
// only the rows of its own facts.
type compiler struct {
	ds       *Dataset
	snapshot *Snapshot
	workers  int
	keys     map[string]verifyKey
	members  recordMembers // what every record has in common
	problems []problem
}

// verifyKey is an entry of the key set with its revocation day.
type verifyKey struct {
	public  ed25519.PublicKey
	revoked Date
}

// problem orders errors by fact, so that what is reported does not depend on scheduling. Fact -1 is the catalogue itself.
type problem struct {
	fact int
	err  *DatasetError
}

func newCompiler(ds *Dataset, o Options) (*compiler, error) {
	origin, err := url.Parse(o.Origin)
	if err != nil || origin.Scheme != "https" && origin.Scheme != "http" || origin.Host == "" || o.Origin != origin.Scheme+"://"+origin.Host {
		return nil, fmt.Errorf("origin %q is not scheme://host[:port] without a path", o.Origin)
	}
	if !slices.Contains([]string{"L1", "L2", "L3"}, o.Conformance) {
		return nil, fmt.Errorf("conformance %q is none of L1, L2, L3", o.Conformance)
	}
	if o.Conformance == "L3" && !ds.Signed {
		return nil, errors.New("conformance L3 needs a signed dataset: sign it or claim a lower level")
	}
	if err := checkPublisher(ds.Publisher); err != nil {
		return nil, err
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	values := 0
	for i := range ds.Facts {
		values += len(ds.Facts[i].Values)
	}
	s := &Snapshot{
		facts:          make([]factRow, len(ds.Facts)),
		values:         make([]valueRow, values),
		byKey:          make(map[string]int32, len(ds.Facts)),
		aliases:        map[string]int32{},
		areaNamespaces: map[string][]string{},
		keyPrefix:      o.Origin + "/f/",
		indexURL:       o.Origin + "/f",
	}
	if o.Static {
		s.keySuffix, s.indexURL = ".json", o.Origin+"/f/index.json"
	}
	s.info.Options = o
	s.info.Topics = slices.Clone(ds.Topics)
	c := &compiler{ds: ds, snapshot: s, workers: workers}
	c.members = newRecordMembers(ds.Publisher, o.Origin, origin.Host, s)
	s.publisher = string(c.members.publisher)
	return c, c.readKeys()
}

// readKeys indexes the key set by kid.
func (c *compiler) readKeys() error {
	c.keys = map[string]verifyKey{}
	if c.ds.Keys == nil {
		if c.ds.Signed {
			return errors.New("the dataset is signed but has no key set")
		}
		return nil
	}
	for _, k := range c.ds.Keys.Keys {
		v := verifyKey{public: k.Public}
		if k.Revoked != "" {
			var err error
			if v.revoked, err = ParseDate(k.Revoked); err != nil {
				return fmt.Errorf("key %s: revoked: %w", k.Kid, err)
			}
		}
		c.keys[k.Kid] = v
	}
	return nil
}

// report notes a problem of a fact (-1: of the catalogue).
func (c *compiler) report(fact int, format string, args ...any) {
	c.problems = append(c.problems, problem{fact, c.datasetError(fact, "", format, args...)})
}

// datasetError names the fact; without a place of its own the problem stands at the fact's newest value.
func (c *compiler) datasetError(fact int, place, format string, args ...any) *DatasetError {
	e := &DatasetError{Place: place, Problem: fmt.Sprintf(format, args...)}
	if fact >= 0 {
		f := &c.ds.Facts[fact]
		e.Key = f.Key
		if place == "" && len(f.Values) > 0 {
			e.Place = f.Values[0].Place
		}
	}
	return e
}

// err joins the first problems in dataset order.
func (c *compiler) err() error {
	slices.SortStableFunc(c.problems, func(a, b problem) int { return a.fact - b.fact })
	var errs []error
	for _, p := range c.problems[:min(len(c.problems), maxDatasetErrors)] {
		errs = append(errs, p.err)
	}
	return errors.Join(errs...)
}

// blockSize is how many facts a worker takes at once.
const blockSize = 64

// compileValues checks, verifies and encodes every value.
func (c *compiler) compileValues() {
	blocks := (len(c.ds.Facts) + blockSize - 1) / blockSize
	workers := make([]valueWorker, max(1, min(c.workers, blocks)))
	var next atomic.Int64
	var group sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.compiler, w.boundaries = c, map[Date]struct{}{}
		group.Go(func() {
			// Blocks are handed out in order, so a worker that stops at the limit leaves behind only facts after the ones it reported.
			for len(w.problems) < maxDatasetErrors {
				lo := int(next.Add(1)-1) * blockSize
				if lo >= len(c.ds.Facts) {
					return
				}
				for f := lo; f < min(lo+blockSize, len(c.ds.Facts)); f++ {
					w.fact(f)
				}
			}
		})
	}
	group.Wait()
	boundaries := map[Date]struct{}{}
	for i := range workers {
		c.problems = append(c.problems, workers[i].problems...)
		for d := range workers[i].boundaries {
			boundaries[d] = struct{}{}
		}
	}
	for d := range boundaries {
		c.snapshot.boundaries = append(c.snapshot.boundaries, d)
	}
	slices.Sort(c.snapshot.boundaries)
}

// valueWorker compiles some of the facts.
type valueWorker struct {
	*compiler
	problems   []problem
	boundaries map[Date]struct{}
	arena      arena
	buf        []byte
	payload    []byte
}

func (w *valueWorker) report(fact int, place, format string, args ...any) {
	w.problems = append(w.problems, problem{fact, w.datasetError(fact, place, format, args...)})
}

// fact compiles the values of one fact.
func (w *valueWorker) fact(i int) {
	f := &w.ds.Facts[i]
	if !w.checkFact(i, f) {
		return
	}
	starts, ok := w.spans(i, f)
	if !ok {
		return
	}
	for j := range f.Values {
		v := f.Values[j] // a copy: the end may be derived
		if j > 0 && v.To.IsZero() {
			v.To = starts[j-1] - 1
		}
		if problem := checkValue(&v); problem != "" {
			w.report(i, v.Place, "%s", problem)
			continue
		}
		if v.SupersededBy != "" && !w.holds(v.SupersededBy) {
			w.report(i, v.Place, "supersededBy names %q, which is not a key", v.SupersededBy)
			continue
		}
		attestation := Attest(w.ds.Publisher, f.Key, &v)
		if err := w.verify(&v, &attestation); err != nil {
			w.report(i, v.Place, "%s", err)
			continue
		}
		row := &w.snapshot.values[w.snapshot.facts[i].first+int32(j)]
		w.buf = w.members.append(w.buf[:0], row, f, j, &v, attestation.Hash, w.cadence(f))
		if len(w.buf) > maxRecord-maxDayMembers {
			w.report(i, v.Place, "the record is %d bytes long, over the %d a record may have; shorten the value or the quote", len(w.buf)+maxDayMembers, maxRecord)
			continue
		}
		row.text = w.arena.add(w.buf)
		row.start, row.to, row.verified, row.withdrawn = starts[j], v.To, v.Verified, v.Withdrawn
		w.boundaries[row.start] = struct{}{}
		if !row.to.IsZero() {
			w.boundaries[row.to+1] = struct{}{}
		}
	}
}

// cadence is the area of the fact, the zero Area without one.
func (c *compiler) cadence(f *Fact) Area {
	if f.Topic >= 0 {
		if a := c.findArea(c.ds.Topics[f.Topic].Area); a != nil {
			return *a
		}
	}
	return Area{}
}

// holds reports whether a key is in the dataset, whose facts are sorted.
func (c *compiler) holds(key string) bool {
	_, found := slices.BinarySearchFunc(c.ds.Facts, key, func(f Fact, key string) int { return strings.Compare(f.Key, key) })
	return found
}

// spans returns the first day of each value and checks that they follow each other without overlap (F§4.3).
func (w *valueWorker) spans(i int, f *Fact) (starts []Date, ok bool) {
	starts = make([]Date, len(f.Values))
	ok = true
	for j := range f.Values {
		v := &f.Values[j]
		start := v.From
		if start.IsZero() {
			start = v.Withdrawn
		}
		starts[j] = start
		problem := ""
		switch {
		case j > 0 && start == starts[j-1]:
			problem = "begins on the same day as the value before it in the list: values of one key may not overlap"
		case j > 0 && start > starts[j-1]:
			problem = "begins after the value before it in the list: values stand newest first"
		case v.To.IsZero():
		case v.To < start:
			problem = fmt.Sprintf("effectiveTo %s lies before effectiveFrom %s", v.To, start)
		case j > 0 && v.To >= starts[j-1]:
			problem = fmt.Sprintf("effectiveTo %s overlaps the value that begins on %s", v.To, starts[j-1])
		case j > 0 && !v.ToExplicit && v.To != starts[j-1]-1:
			problem = fmt.Sprintf("effectiveTo %s is neither the author's nor the day before the next value, which begins on %s", v.To, starts[j-1])
		}
		if problem != "" {
			w.report(i, v.Place, "%s", problem)
			ok = false
		}
	}
	return starts, ok
}

// verify checks the signature of a value: present when the dataset is signed, and valid whenever it is present.
func (w *valueWorker) verify(v *DatedValue, a *Attestation) error {
	if v.Signature == nil {
		if w.ds.Signed {
			return errors.New("the value has no signature; sign the dataset again")
		}
		return nil
	}
	key, ok := w.keys[v.Signature.Kid]
	if !ok {
		return fmt.Errorf("signature: key %q is not in the key set", v.Signature.Kid)
	}
	if !key.revoked.IsZero() && v.Verified > key.revoked {
		return fmt.Errorf("signature: key %q was revoked on %s, before the value was verified on %s", v.Signature.Kid, key.revoked, v.Verified)
	}
	if w.snapshot.info.SignaturesVerified {
		return nil
	}
	w.payload = a.AppendCanonical(w.payload[:0])
	if err := jws.VerifyDetached(v.Signature.JWS, w.payload, v.Signature.Kid, key.public); err != nil {
		return fmt.Errorf("signature: %v; sign the dataset again", err)
	}
	return nil
}

// arena keeps records in large blocks: a fraction of the allocations, and no slack per record.
type arena struct {
	block strings.Builder
}

const arenaBlock = 128 << 10

// add copies b and returns the copy. A block is never grown, so what was handed out stays where it is.
func (a *arena) add(b []byte) string {
	if a.block.Cap()-a.block.Len() < len(b) {
		a.block = strings.Builder{}
		a.block.Grow(max(arenaBlock, len(b)))
	}
	start := a.block.Len()
	a.block.Write(b)
	return a.block.String()[start:]
}
