package facts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"sayso/jcs"
)

// ClaimHash is the hash of the entry's to state; a withdrawal's value is null.
func (e *Entry) ClaimHash() string {
	c := Claim{Key: e.FactKey, Value: e.To, Unit: e.Unit, Period: e.Period, EffectiveFrom: e.EffectiveFrom, Source: e.Source}
	return c.Hash()
}

// Link is the chain link of the entry: the digest of its canonical bytes with hash and prevHash (F§8.5).
func (e *Entry) Link() string {
	var buf [1024]byte
	return hashText(e.AppendCanonical(buf[:0]))
}

// EntryLink is the chain link of an entry as received, unknown members included. The error is that of the strict reader.
func EntryLink(raw []byte) (string, error) {
	canonical, err := jcs.Canonical(raw)
	if err != nil {
		return "", err
	}
	return hashText(canonical), nil
}

// entryMembers writes the members of an entry one by one: RFC 8785 sorts them, documents show them in the order of F§8.3.
type entryMembers struct {
	dst   []byte
	begun bool
}

func (m *entryMembers) name(name string) {
	open := byte(',')
	if !m.begun {
		open, m.begun = '{', true
	}
	m.dst = append(append(append(m.dst, open, '"'), name...), `":`...)
}

func (m *entryMembers) text(name, s string) {
	m.name(name)
	m.dst = jcs.AppendString(m.dst, s)
}

// optional leaves an empty text out.
func (m *entryMembers) optional(name, s string) {
	if s != "" {
		m.text(name, s)
	}
}

// nullable writes an empty text as null.
func (m *entryMembers) nullable(name, s string) {
	m.name(name)
	m.dst = appendNullable(m.dst, s)
}

func (m *entryMembers) value(name string, v Value) {
	m.name(name)
	m.dst = appendValue(m.dst, v)
}

func (m *entryMembers) date(name string, d Date) {
	m.name(name)
	m.dst = d.appendJSON(m.dst)
}

// count leaves 0 out.
func (m *entryMembers) count(name string, n int) {
	if n != 0 {
		m.name(name)
		m.dst = strconv.AppendInt(m.dst, int64(n), 10)
	}
}

// day leaves the zero date out.
func (m *entryMembers) day(name string, d Date) {
	if !d.IsZero() {
		m.date(name, d)
	}
}

// flag leaves false out.
func (m *entryMembers) flag(name string, set bool) {
	if set {
		m.name(name)
		m.dst = append(m.dst, "true"...)
	}
}

// AppendCanonical appends the RFC 8785 bytes of the entry as served, hash and prevHash included.
func (e *Entry) AppendCanonical(dst []byte) []byte {
	m := entryMembers{dst: dst}
	m.text("area", e.Area)
	m.flag("bundle", e.Bundle)
	m.flag("correction", e.Correction)
	m.optional("dateBasis", e.DateBasis)
	m.date("effectiveFrom", e.EffectiveFrom)
	m.text("factKey", e.FactKey)
	m.value("from", e.From)
	m.nullable("hash", e.Hash)
	m.count("heldCount", e.HeldCount)
	m.text("key", e.Key)
	m.optional("label", e.Label)
	m.optional("method", e.Method)
	m.nullable("period", e.Period)
	m.nullable("prevHash", e.PrevHash)
	m.optional("quote", e.Quote)
	m.count("seq", e.Seq)
	m.day("snapshot", e.Snapshot)
	m.text("source", e.Source)
	m.count("sourceCount", e.SourceCount)
	m.optional("sourceFile", e.SourceFile)
	m.optional("sourceType", e.SourceType)
	m.optional("supersededBy", e.SupersededBy)
	m.value("to", e.To)
	m.nullable("unit", e.Unit)
	m.date("verifiedDate", e.VerifiedDate)
	m.day("withdrawn", e.Withdrawn)
	return append(m.dst, '}')
}

// AppendJSON appends the entry in the member order of F§8.3.
func (e *Entry) AppendJSON(dst []byte) []byte {
	m := entryMembers{dst: dst}
	m.text("area", e.Area)
	m.text("key", e.Key)
	m.text("factKey", e.FactKey)
	m.optional("label", e.Label)
	m.value("from", e.From)
	m.value("to", e.To)
	m.nullable("unit", e.Unit)
	m.nullable("period", e.Period)
	m.date("effectiveFrom", e.EffectiveFrom)
	m.text("source", e.Source)
	m.date("verifiedDate", e.VerifiedDate)
	m.optional("sourceType", e.SourceType)
	m.optional("method", e.Method)
	m.optional("sourceFile", e.SourceFile)
	m.count("seq", e.Seq)
	m.optional("dateBasis", e.DateBasis)
	m.day("snapshot", e.Snapshot)
	m.flag("bundle", e.Bundle)
	m.count("heldCount", e.HeldCount)
	m.count("sourceCount", e.SourceCount)
	m.optional("quote", e.Quote)
	m.day("withdrawn", e.Withdrawn)
	m.optional("supersededBy", e.SupersededBy)
	m.flag("correction", e.Correction)
	m.nullable("hash", e.Hash)
	m.nullable("prevHash", e.PrevHash)
	return append(m.dst, '}')
}

// entryReaders are the members of an entry, those of ParseEntry.
var entryReaders = map[string]struct {
	required bool
	read     func(e *Entry, v jcs.Raw) error
}{
	"area":          {true, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Area, v, checkNotEmpty) }},
	"key":           {true, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Key, v, checkNotEmpty) }},
	"factKey":       {true, func(e *Entry, v jcs.Raw) error { return readChecked(&e.FactKey, v, CheckKeyGrammar) }},
	"label":         {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Label, v, checkNotEmpty) }},
	"from":          {true, func(e *Entry, v jcs.Raw) error { return readEntryValue(&e.From, v) }},
	"to":            {true, func(e *Entry, v jcs.Raw) error { return readEntryValue(&e.To, v) }},
	"unit":          {true, func(e *Entry, v jcs.Raw) error { return readNullText(&e.Unit, v) }},
	"period":        {true, func(e *Entry, v jcs.Raw) error { return readNullText(&e.Period, v) }},
	"effectiveFrom": {true, func(e *Entry, v jcs.Raw) error { return readNullableDate(&e.EffectiveFrom, v) }},
	"source":        {true, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Source, v, checkHTTPS) }},
	"verifiedDate":  {true, func(e *Entry, v jcs.Raw) error { return readDate(&e.VerifiedDate, v) }},
	"sourceType":    {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.SourceType, v, checkSourceType) }},
	"method":        {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Method, v, checkNotEmpty) }},
	"sourceFile":    {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.SourceFile, v, checkNotEmpty) }},
	"seq":           {false, func(e *Entry, v jcs.Raw) error { return readCount(&e.Seq, v) }},
	"dateBasis":     {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.DateBasis, v, checkDateBasis) }},
	"quote":         {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Quote, v, checkNotEmpty) }},
	"withdrawn":     {false, func(e *Entry, v jcs.Raw) error { return readDate(&e.Withdrawn, v) }},
	"supersededBy":  {false, func(e *Entry, v jcs.Raw) error { return readChecked(&e.SupersededBy, v, CheckKeyGrammar) }},
	"snapshot":      {false, func(e *Entry, v jcs.Raw) error { return readDate(&e.Snapshot, v) }},
	"bundle":        {false, func(e *Entry, v jcs.Raw) error { return readFlag(&e.Bundle, v) }},
	"heldCount":     {false, func(e *Entry, v jcs.Raw) error { return readCount(&e.HeldCount, v) }},
	"sourceCount":   {false, func(e *Entry, v jcs.Raw) error { return readCount(&e.SourceCount, v) }},
	"correction":    {false, func(e *Entry, v jcs.Raw) error { return readFlag(&e.Correction, v) }},
	"hash":          {true, func(e *Entry, v jcs.Raw) error { return readChecked(&e.Hash, v, checkHash) }},
	"prevHash":      {true, readPrevHash},
}

// ParseEntry reads one entry strictly: strict JSON, every member known and of its type and form, the required ones of F§8.3 and hash and prevHash present.
// It is for our own changelog lines: reading what it accepts and writing it again gives the same entry. Errors name the member.
func ParseEntry(data []byte) (Entry, error) {
	members, err := jcs.Members(data)
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	present := make(map[string]bool, len(members))
	for _, m := range members {
		known, ok := entryReaders[m.Name]
		if !ok {
			return Entry{}, fmt.Errorf("member %s is not one of an entry", quote(m.Name))
		}
		if err := known.read(&e, m.Value); err != nil {
			return Entry{}, fmt.Errorf("member %q: %w", m.Name, err)
		}
		present[m.Name] = true
	}
	for _, name := range requiredEntryMembers {
		if !present[name] {
			return Entry{}, fmt.Errorf("member %q is missing; a nullable member is present as null", name)
		}
	}
	return e, e.check()
}

var requiredEntryMembers = []string{"area", "key", "factKey", "from", "to", "unit", "period", "effectiveFrom", "source", "verifiedDate", "hash", "prevHash"}

func readEntryValue(dst *Value, v jcs.Raw) (err error) {
	*dst, err = ParseValue(v)
	return err
}

// readNullText takes null or a text; an empty text would be written again as null and is refused.
func readNullText(dst *string, v jcs.Raw) error {
	if isNull(v) {
		return nil
	}
	return readChecked(dst, v, checkNotEmpty)
}

// readCount takes a whole number from 1; 0 is written by leaving the member out.
func readCount(dst *int, v jcs.Raw) error {
	if err := readInteger(dst, v); err != nil || *dst < 1 {
		return errors.New("is a whole number from 1; leave it out for 0")
	}
	return nil
}

func readFlag(dst *bool, v jcs.Raw) error {
	if string(v) != "true" {
		return errors.New("is true or absent")
	}
	*dst = true
	return nil
}

func readPrevHash(e *Entry, v jcs.Raw) error {
	if isNull(v) {
		return nil
	}
	return readChecked(&e.PrevHash, v, checkHash)
}

func checkDateBasis(s string) error {
	switch s {
	case "verified", "commit", "source":
		return nil
	}
	return fmt.Errorf("%s is none of verified, commit, source", quote(s))
}

// check applies what must hold within one entry, however it was made.
func (e *Entry) check() error {
	switch {
	case e.Area == "" || e.Key == "":
		return errors.New("an entry names its area and key")
	case e.VerifiedDate.IsZero():
		return errors.New("an entry has a verifiedDate")
	case e.Seq < 0 || e.HeldCount < 0 || e.SourceCount < 0:
		return errors.New("seq, heldCount or sourceCount is negative")
	case !e.Withdrawn.IsZero() && e.To != Null && e.To != "":
		return errors.New("a withdrawal leads to the value null")
	case e.SupersededBy != "" && e.Withdrawn.IsZero():
		return errors.New("supersededBy belongs to a withdrawal")
	}
	if err := checkHTTPS(e.Source); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	return CheckKeyGrammar(e.FactKey)
}

// identity is what no two entries share (F§8.3).
type identity struct {
	area, key string
	verified  Date
	seq       int
}

func (e *Entry) identity() identity { return identity{e.Area, e.Key, e.VerifiedDate, e.Seq} }

func (e *Entry) String() string {
	return fmt.Sprintf("%s:%s of %s, seq %d", e.Area, e.Key, e.VerifiedDate, e.Seq)
}

// AppendEntries sorts batch by (verifiedDate, area, key, seq), links it behind chain and returns the longer chain; neither argument is changed. hash and
// prevHash of the batch are computed; a hash that is set must be right. An entry older than the chain's last, or with the identity of another, is refused.
func AppendEntries(chain []Entry, batch []Entry) ([]Entry, error) {
	added := slices.Clone(batch)
	slices.SortStableFunc(added, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.VerifiedDate, b.VerifiedDate), cmp.Compare(a.Area, b.Area), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	held := make(map[identity]bool, len(chain)+len(added))
	for i := range chain {
		held[chain[i].identity()] = true
	}
	last, link := Date(0), ""
	if n := len(chain); n > 0 {
		last, link = chain[n-1].VerifiedDate, chain[n-1].Link()
	}
	for i := range added {
		e := &added[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("entry %s: %w", e, err)
		}
		hash := e.ClaimHash()
		switch {
		case e.VerifiedDate < last:
			return nil, fmt.Errorf("entry %s is older than the newest entry, of %s: the log is append-only, write a correction dated today", e, last)
		case held[e.identity()]:
			return nil, fmt.Errorf("entry %s stands twice: give the later one the next seq", e)
		case e.Hash != "" && e.Hash != hash:
			return nil, fmt.Errorf("entry %s: hash is not that of its claim, %s", e, hash)
		}
		held[e.identity()] = true
		e.Hash, e.PrevHash = hash, link
		last, link = e.VerifiedDate, e.Link()
	}
	return append(slices.Clip(chain), added...), nil
}

// The rules a chain can break (F§8.5).
const (
	ChainMember    = "member"     // an entry is not well formed by itself
	ChainOrder     = "order"      // a verifiedDate before that of the entry before
	ChainIdentity  = "identity"   // area, key, verifiedDate and seq of another entry
	ChainMapping   = "mapping"    // area and key, or factKey, paired otherwise elsewhere
	ChainHash      = "hash"       // not the hash of the to claim
	ChainLink      = "link"       // prevHash is not the link of the entry before
	ChainClaimLink = "claim link" // prevHash is the claim hash of the entry before: does not protect history
)

// ChainError is the first rule a chain breaks.
type ChainError struct {
	Position int // from the oldest entry, 0
	Rule     string
	Message  string
}

func (e *ChainError) Error() string { return fmt.Sprintf("entry %d: %s", e.Position, e.Message) }

// CheckChain verifies order, identities, the pairing of changelog keys with fact keys, hashes and links of a chain, oldest first, and returns the head ("" without
// entries). The error is a *ChainError.
func CheckChain(chain []Entry) (head string, err error) {
	held := make(map[identity]bool, len(chain))
	factOf := make(map[[2]string]string)
	nameOf := make(map[string][2]string)
	for i := range chain {
		e := &chain[i]
		if rule, message := e.checkLinked(chain[:i], head); rule != "" {
			return "", &ChainError{i, rule, message}
		}
		if held[e.identity()] {
			return "", &ChainError{i, ChainIdentity, "area, key, verifiedDate and seq are those of an earlier entry"}
		}
		held[e.identity()] = true
		name := [2]string{e.Area, e.Key}
		if other, ok := factOf[name]; ok && other != e.FactKey {
			return "", &ChainError{i, ChainMapping, fmt.Sprintf("%s:%s stood for %s before", e.Area, e.Key, quote(other))}
		}
		if other, ok := nameOf[e.FactKey]; ok && other != name {
			return "", &ChainError{i, ChainMapping, fmt.Sprintf("%s was %s:%s before", quote(e.FactKey), other[0], other[1])}
		}
		factOf[name], nameOf[e.FactKey] = e.FactKey, name
		head = e.Link()
	}
	return head, nil
}

// checkLinked checks an entry by itself and against those before it; link is the link of the last of them.
func (e *Entry) checkLinked(before []Entry, link string) (rule, message string) {
	if err := e.check(); err != nil {
		return ChainMember, err.Error()
	}
	if e.Hash != e.ClaimHash() {
		return ChainHash, "hash is not that of the claim it leads to"
	}
	if n := len(before); n > 0 {
		last := &before[n-1]
		switch {
		case e.VerifiedDate < last.VerifiedDate:
			return ChainOrder, fmt.Sprintf("verifiedDate %s lies before %s, that of the entry before", e.VerifiedDate, last.VerifiedDate)
		case e.PrevHash != link && e.PrevHash == last.Hash:
			return ChainClaimLink, "linked by claim hash: does not protect history"
		}
	}
	switch {
	case e.PrevHash == link:
		return "", ""
	case link == "":
		return ChainLink, "prevHash of the first entry is null; an entry before it is missing"
	}
	return ChainLink, "prevHash is not the link of the entry before: one of them was changed, moved or left out"
}
