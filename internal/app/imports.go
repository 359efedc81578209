package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

// The modes of an import.
const (
	ModeReplace = "replace" // records that the bundle does not hold are removed
	ModeMerge   = "merge"   // they stay
)

const (
	maxDocument = 4 << 20 // bytes of publisher.json, schema.json and calendar.json
	maxProblems = 1000    // that are returned; the others are counted
)

// Bundle is what an import reads. Documents that are nil stay as they are; so do the records when Records is nil.
type Bundle struct {
	Profile  []byte // publisher.json
	Schema   []byte // schema.json
	Calendar []byte // calendar.json
	Records  func() (io.ReadCloser, error)
	Name     string // file name of the records
	Format   bundle.Format
	// WholeBusiness says that a JSON-LD file of records may state the profile too.
	WholeBusiness bool
}

// OpenBundle finds the files of a bundle in a folder: publisher.json, schema.json, calendar.json and one of records.jsonl, records.csv, records.jsonld.
// A missing one is not there; a folder without any, or with two files of records, is refused.
func OpenBundle(files fs.FS) (*Bundle, error) {
	b := &Bundle{}
	for name, into := range map[string]*[]byte{"publisher.json": &b.Profile, "schema.json": &b.Schema, "calendar.json": &b.Calendar} {
		data, err := readDocument(files, name)
		if err != nil {
			return nil, err
		}
		*into = data
	}
	for _, name := range []string{"records.jsonl", "records.csv", "records.jsonld"} {
		if _, err := fs.Stat(files, name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if b.Records != nil {
			return nil, invalid("two_record_files", "the bundle holds both %s and %s", b.Name, name).next("keep one of them")
		}
		if err := b.open(files, name); err != nil {
			return nil, err
		}
	}
	if b.Records == nil && b.Profile == nil && b.Schema == nil && b.Calendar == nil {
		return nil, invalid("empty_bundle", "the folder holds none of publisher.json, schema.json, calendar.json, records.jsonl, records.csv, records.jsonld")
	}
	return b, nil
}

// OpenRecords is a bundle of one file, which is read by its extension. A JSON-LD file that describes a business states its profile too.
func OpenRecords(files fs.FS, name string) (*Bundle, error) {
	b := &Bundle{WholeBusiness: true}
	if err := b.open(files, name); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Bundle) open(files fs.FS, name string) error {
	format, ok := bundle.FormatOf(name)
	if !ok {
		return invalid("unknown_format", "%s is none of .jsonl, .csv, .jsonld, .json", path.Base(name))
	}
	b.Name, b.Format = path.Base(name), format
	b.Records = func() (io.ReadCloser, error) { return files.Open(name) }
	return nil
}

func readDocument(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, invalid("unreadable", "%s cannot be read", name)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	switch {
	case err != nil:
		return nil, invalid("unreadable", "%s cannot be read", name)
	case len(data) > maxDocument:
		return nil, invalid("too_large", "%s is larger than %d bytes", name, maxDocument)
	}
	return data, nil
}

// ImportInput says what to import and how.
type ImportInput struct {
	Bundle      *Bundle
	Mode        string // ModeReplace | ModeMerge; "" = replace
	DryRun      bool   // commit nothing
	SkipInvalid bool   // commit the valid rows and mark the publisher's evidence as incomplete
	Progress    func(read int)
	Operation   string
}

// ImportResult says what an import found and did.
type ImportResult struct {
	Receipt
	DryRun       bool             `json:"dry_run,omitzero"`
	Read         int              `json:"read"`    // valid records of the bundle
	Written      int              `json:"written"` // of them new or changed
	Removed      int              `json:"removed"`
	Skipped      int              `json:"skipped"` // rows with errors
	Problems     []bundle.Problem `json:"problems"`
	MoreProblems int              `json:"more_problems,omitzero"` // not listed
}

// parsed is a bundle that was read: documents as they will be stored, records by name.
type parsed struct {
	profile, schema, calendar jcs.Raw
	origin                    string // of the site, "" when none is configured
	hasRecords                bool
	scopes                    scopes // that the records were read against
	records                   map[RecordKey]incoming
	spool                     *spool
	failed                    int // documents with errors, and a file of records that could not be read to its end
	result                    *ImportResult
}

func (p *parsed) problem(problem bundle.Problem) {
	if len(p.result.Problems) < maxProblems {
		p.result.Problems = append(p.result.Problems, problem)
	} else {
		p.result.MoreProblems++
	}
}

func (p *parsed) problems(list []bundle.Problem) {
	for _, problem := range list {
		p.problem(problem)
	}
}

// Import takes a bundle: one generation, or none. The bundle is read and judged before the transaction begins; inside it the leaves are compared with the
// stored ones and only rows that differ are written. An error in a document, or a row with an error and no SkipInvalid, refuses the whole bundle
// (invalid_bundle); the result then holds the problems.
func (r *Registry) Import(ctx context.Context, actor Actor, slug string, in ImportInput) (*ImportResult, error) {
	if in.Mode == "" {
		in.Mode = ModeReplace
	}
	if in.Bundle == nil {
		return nil, invalid("empty_bundle", "there is nothing to import")
	}
	if in.Mode != ModeReplace && in.Mode != ModeMerge {
		return nil, invalid("invalid_mode", "the mode is neither %s nor %s", ModeReplace, ModeMerge)
	}
	options, err := r.context(ctx, actor, OpImport, slug)
	if err != nil {
		return nil, err
	}
	sp, err := newSpool()
	if err != nil {
		return nil, storeError(err)
	}
	defer sp.close()
	p := &parsed{origin: r.site.Origin, spool: sp, records: map[RecordKey]incoming{}, result: &ImportResult{DryRun: in.DryRun, Problems: []bundle.Problem{}}}
	if err := p.read(ctx, in, options); err != nil {
		return p.result, err
	}
	if p.failed > 0 || p.result.Skipped > 0 && !in.SkipInvalid {
		return p.result, p.refusal()
	}
	if in.DryRun {
		return p.result, r.compare(ctx, actor, slug, in, p)
	}
	receipt, err := r.edit(ctx, actor, OpImport, slug, in.Operation, func(c *change) error { return p.apply(ctx, c, in) })
	if err != nil {
		return p.result, err
	}
	p.result.Receipt = *receipt
	return p.result, nil
}

// refusal says how much of the bundle has errors. Documents cannot be left out, rows can.
func (p *parsed) refusal() error {
	rows, files := counted(p.result.Skipped, "row"), counted(p.failed, "file")
	switch {
	case p.failed == 0:
		return invalid("invalid_bundle", "errors in %s; nothing was changed", rows).
			next("correct them, or leave the rows out with skip_invalid: the evidence then counts as incomplete")
	case p.result.Skipped == 0:
		return invalid("invalid_bundle", "errors in %s; nothing was changed", files).next("correct them")
	}
	return invalid("invalid_bundle", "errors in %s and %s; nothing was changed", rows, files).next("correct them")
}

// read reads the whole bundle.
func (p *parsed) read(ctx context.Context, in ImportInput, o bundle.Options) (err error) {
	b := in.Bundle
	var profile *business.Profile
	if b.WholeBusiness && b.Format == bundle.JSONLD {
		if profile, err = p.readBusiness(b, &o); err != nil {
			return err
		}
	}
	if b.Schema != nil {
		if text, schema, err := readSchema(b.Schema); err != nil {
			p.documentError("schema.json", err)
		} else {
			p.schema, o.Schema = text, schema
		}
	}
	if p.calendar, err = readCalendar(b.Calendar); err != nil {
		p.documentError("calendar.json", err)
	}
	if b.Profile != nil {
		var problems []bundle.Problem
		p.profile, profile, problems, err = readProfile(b.Profile, "publisher.json", o.Schema)
		p.problems(problems)
		if err != nil {
			p.failed++
		}
	}
	if profile != nil {
		o.Locations = locationIDs(profile)
		o.BaseURL = baseURL(p.origin, o.Publisher, profile)
	}
	if b.Records == nil {
		return nil
	}
	p.hasRecords, p.scopes = true, scopesOf(o.Schema)
	f, err := b.Records()
	if err != nil {
		return invalid("unreadable", "%s cannot be read", b.Name)
	}
	defer f.Close()
	return p.readRecords(ctx, f, in, o)
}

// noBusiness is the rule of a file that does not describe exactly one business.
const noBusiness = "XB-29"

// readBusiness reads profile and lists of a JSON-LD file that stands alone. A file without one business holds records only.
func (p *parsed) readBusiness(b *Bundle, o *bundle.Options) (*business.Profile, error) {
	f, err := b.Records()
	if err != nil {
		return nil, invalid("unreadable", "%s cannot be read", b.Name)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, bundle.MaxJSONLD+1))
	if err != nil {
		return nil, invalid("unreadable", "%s cannot be read", b.Name)
	}
	profile, schema, problems := bundle.ReadProfileJSONLD(data, b.Name)
	if profile == nil {
		if slices.ContainsFunc(problems, func(q bundle.Problem) bool { return !q.Warning && (q.Rule != noBusiness || q.Row != 0) }) {
			p.failed++
		} else {
			for i := range problems {
				problems[i].Warning = true // nothing says what the profile is, and nothing has to
			}
		}
		p.problems(problems)
		return nil, nil
	}
	p.problems(problems)
	if p.profile, err = jcs.Encode(profile); err != nil {
		return nil, invalid("invalid_profile", "%s cannot be kept: %v", b.Name, err)
	}
	if schema != nil && o.Schema == nil {
		text, err := jcs.Encode(schema)
		if err == nil {
			p.schema, o.Schema, err = readSchema(text)
		}
		if err != nil {
			return nil, invalid("invalid_schema", "the lists of %s cannot be kept: %v", b.Name, err)
		}
	}
	return profile, nil
}

func (p *parsed) documentError(name string, err error) {
	p.failed++
	p.problem(bundle.Problem{File: name, Rule: AsError(err).Code, Message: err.Error(), Next: "correct the document"})
}

// fileRules are the rules whose error can mean that the reader did not get to the end of the file.
var fileRules = []string{"XB-01", "XB-02", "XB-03", "XB-09"}

func (p *parsed) readRecords(ctx context.Context, f io.Reader, in ImportInput, o bundle.Options) error {
	var last *bundle.Problem // of the newest item, when it is a row with an error
	row := -1
	for record, problem := range bundle.Records(f, in.Bundle.Name, in.Bundle.Format, o) {
		last = nil
		if problem != nil {
			p.problem(*problem)
			if record == nil && !problem.Warning {
				last = problem
				if problem.Row != row {
					p.result.Skipped++
				}
				row = problem.Row
			}
		}
		if record == nil {
			continue
		}
		if err := p.take(record, in.Bundle.Name, o.Publisher); err != nil {
			return err
		}
		if p.result.Read%1000 == 0 {
			if err := ctx.Err(); err != nil {
				return storeError(err)
			}
			in.progress(p.result.Read)
		}
	}
	in.progress(p.result.Read)
	if last != nil && (last.Row == 0 || slices.Contains(fileRules, last.Rule)) {
		// Rows may be skipped, the rest of a file may not: replacing with what was read would remove what was not.
		p.failed++
	}
	return storeError(p.spool.flush())
}

func (in ImportInput) progress(read int) {
	if in.Progress != nil {
		in.Progress(read)
	}
}

// take hashes one record and spools its body.
func (p *parsed) take(record *business.Record, file, slug string) error {
	key := RecordKey{Type: record.Type, ID: record.ID}
	if _, twice := p.records[key]; twice {
		p.result.Skipped++
		p.problem(bundle.Problem{
			File: file, Field: "id", Rule: "XP-IDENTITY-001", Message: fmt.Sprintf("the record %s stands twice", business.EntityKey(key.Type, key.ID)), Next: "keep one of them",
		})
		return nil
	}
	if len(p.records) >= bundle.MaxRecords {
		return refusal(KindLimit, "too_many_records", "a bundle holds at most %d records", bundle.MaxRecords)
	}
	leaf, err := business.RecordLeaf(slug, record)
	if err != nil {
		return invalid("invalid_record", "the record %s has no canonical form: %v", business.EntityKey(key.Type, key.ID), err)
	}
	body, err := business.AppendStated(nil, record)
	if err != nil {
		return invalid("invalid_record", "the record %s cannot be kept: %v", business.EntityKey(key.Type, key.ID), err)
	}
	in, err := p.spool.add(body, leaf, record.UpdatedAt)
	if err != nil {
		return storeError(err)
	}
	p.records[key] = in
	p.result.Read++
	return nil
}

// plan is what an import does to the stored records.
type plan struct {
	write  []RecordKey // new or changed, in the order of (type, id)
	remove []RecordKey
	total  int // records afterwards
}

func (p *parsed) plan(ctx context.Context, rd Reader, slug, mode string) (plan, error) {
	var out plan
	same := make(map[RecordKey]bool, len(p.records))
	kept := 0
	for row, err := range rd.Leaves(ctx, slug) {
		if err != nil {
			return out, err
		}
		in, arrives := p.records[row.RecordKey]
		switch {
		case arrives && in.leaf == row.Leaf:
			same[row.RecordKey] = true
		case !arrives && mode == ModeReplace && p.hasRecords:
			out.remove = append(out.remove, row.RecordKey)
		case !arrives:
			kept++
		}
	}
	for key := range p.records {
		if !same[key] {
			out.write = append(out.write, key)
		}
	}
	slices.SortFunc(out.write, compareKeys)
	out.total = kept + len(p.records)
	return out, nil
}

func compareKeys(a, b RecordKey) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

func (p *parsed) check(c *plan, row *PublisherRow) error {
	if quota := row.Quota.records(); c.total > quota && len(c.write) > 0 {
		return refusal(KindLimit, "record_quota", "%s would hold %s, its quota is %d; nothing was changed", row.Slug, counted(c.total, "record"), quota)
	}
	p.result.Written, p.result.Removed = len(c.write), len(c.remove)
	return nil
}

// compare is an import that commits nothing.
func (r *Registry) compare(ctx context.Context, actor Actor, slug string, in ImportInput, p *parsed) error {
	return r.view(ctx, actor, OpImport, slug, func(rd Reader) error {
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		changes, err := p.plan(ctx, rd, slug, in.Mode)
		if err != nil {
			return err
		}
		p.result.Receipt = Receipt{Publisher: slug, Revision: row.Revision, Generation: row.Generation, At: r.Now()}
		return p.check(&changes, row)
	})
}

// apply is the part of an import inside the transaction.
func (p *parsed) apply(ctx context.Context, c *change, in ImportInput) error {
	changes, err := p.plan(ctx, c, c.row.Slug, in.Mode)
	if err != nil {
		return err
	}
	if err := p.check(&changes, c.row); err != nil {
		return err
	}
	for from, into := range map[*jcs.Raw]*jcs.Raw{&p.profile: &c.row.Profile, &p.schema: &c.row.Schema, &p.calendar: &c.row.Calendar} {
		if *from != nil {
			*into = *from
		}
	}
	switch {
	case p.result.Skipped > 0:
		c.row.Incomplete = true
	case in.Mode == ModeReplace && p.hasRecords:
		c.row.Incomplete = false
	}
	if p.hasRecords {
		if err := c.readAgainst(p.scopes, changes.total-len(p.records)); err != nil {
			return err
		}
	}
	c.audit.Target = in.Mode
	c.audit.Reason = fmt.Sprintf("%d written, %d removed, %d skipped", len(changes.write), len(changes.remove), p.result.Skipped)
	if len(changes.remove) > 0 {
		if err := c.DeleteRecords(ctx, c.row.Slug, slices.Values(changes.remove)); err != nil {
			return err
		}
		if err := c.PruneReadings(ctx, c.row.Slug); err != nil {
			return err
		}
	}
	if len(changes.write) == 0 {
		return nil
	}
	_, err = c.PutRecords(ctx, c.row.Slug, p.rows(changes.write))
	return err
}

func (p *parsed) rows(keys []RecordKey) iter.Seq2[RecordRow, error] {
	return func(yield func(RecordRow, error) bool) {
		for _, key := range keys {
			in := p.records[key]
			body, err := p.spool.body(in)
			if !yield(RecordRow{RecordKey: key, Leaf: in.leaf, UpdatedAt: in.updated, Body: body}, err) || err != nil {
				return
			}
		}
	}
}
