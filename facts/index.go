package facts

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// IndexEntry is one line of the index (F§5.1): the value in force, or the most recent one with InForce false.
type IndexEntry struct {
	Key, Label, Unit, Period, Hash string
	Verified                       Date
	Aliases                        []string
	Withdrawn                      Date
	InForce                        bool
	Value                          Value
}

// Index yields the entries of a namespace ("" = all) with the value in force on a day, in key order.
func (s *Snapshot) Index(namespace string, today Date) iter.Seq[IndexEntry] {
	return func(yield func(IndexEntry) bool) {
		for fact := range s.inNamespace(namespace) {
			i, inForce := s.shown(fact, today)
			v := &s.values[i]
			e := IndexEntry{
				Key: s.key(fact), Label: v.labelText(), Unit: v.unitText(), Period: v.periodText(), Hash: v.hash(),
				Verified: v.verified, Withdrawn: v.withdrawn, InForce: inForce, Value: v.valueJSON(),
				Aliases: s.explicitAliases(fact),
			}
			if !yield(e) {
				return
			}
		}
	}
}

// inNamespace yields the facts of a namespace and its subdivisions, all for "".
func (s *Snapshot) inNamespace(namespace string) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(len(s.facts)) {
			if namespace != "" {
				name := KeyNamespace(s.key(i))
				if name != namespace && !isSubdivision(name, namespace) {
					continue
				}
			}
			if !yield(i) {
				return
			}
		}
	}
}

// indexBuffer is how much of the index is encoded before it is written.
const indexBuffer = 32 << 10

// WriteIndex streams the index document (F§5.1); memory does not grow with the number of keys. A namespace that is not valid UTF-8 is a *ParameterError.
func (s *Snapshot) WriteIndex(w io.Writer, namespace string, today Date) error {
	if !utf8.ValidString(namespace) {
		return refuse("namespace", "namespace is not valid UTF-8")
	}
	buf := make([]byte, 0, indexBuffer+maxRecord)
	buf = s.appendIndexHead(buf, namespace, today)
	first := true
	for fact := range s.inNamespace(namespace) {
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = s.appendIndexEntry(buf, fact, today)
		if len(buf) >= indexBuffer {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(append(buf, ']', '}'))
	return err
}

// appendIndexHead writes what stands before the entries. generated is the newest verifiedDate among them; without entries, that of the snapshot.
func (s *Snapshot) appendIndexHead(dst []byte, namespace string, today Date) []byte {
	count, generated := 0, Date(0)
	for fact := range s.inNamespace(namespace) {
		i, _ := s.shown(fact, today)
		generated = max(generated, s.values[i].verified)
		count++
	}
	if count == 0 {
		generated = s.info.Newest
	}
	dst = append(dst, `{"protocol":"`+Protocol+`"`...)
	dst = append(dst, s.publisher...)
	dst = append(dst, `,"count":`...)
	dst = strconv.AppendInt(dst, int64(count), 10)
	dst = generated.appendJSON(append(dst, `,"generated":`...))
	dst = appendOptional(dst, `,"namespace":`, namespace)
	return append(dst, `,"facts":[`...)
}

// appendIndexEntry copies the members from the record text.
func (s *Snapshot) appendIndexEntry(dst []byte, fact int32, today Date) []byte {
	i, inForce := s.shown(fact, today)
	v := &s.values[i]
	dst = append(dst, '{')
	dst = append(dst, v.text[len(recordHead)-len(`"key":`):v.keyEnd]...)
	dst = append(append(dst, `,"label":`...), v.labelJSON()...)
	dst = append(append(dst, unitMember...), v.unitJSON()...)
	dst = append(append(dst, periodMember...), v.periodJSON()...)
	dst = v.verified.appendJSON(append(dst, `,"verifiedDate":`...))
	dst = append(dst, v.text[v.notice:int(v.notice)+len(hashMember)+1+hashLen+1]...)
	dst = append(dst, v.aliasesMember()...)
	if !v.withdrawn.IsZero() {
		dst = v.withdrawn.appendJSON(append(dst, `,"withdrawn":`...))
	}
	if !inForce {
		dst = append(dst, `,"inForce":false`...)
	}
	return append(dst, '}')
}

// explicitAliases decodes the aliases of a fact.
func (s *Snapshot) explicitAliases(fact int32) []string {
	list := strings.TrimPrefix(s.values[s.facts[fact].first].aliasesMember(), aliasesPrefix)
	if list == "" {
		return nil
	}
	var aliases []string
	mustDecode(list, &aliases)
	return aliases
}
