package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/jwk"
	"sayso/jws"
)

// Join makes one dataset of several: namespaces, areas, topics and facts are put together under one publisher, and the changelogs are put in order of
// their days and linked anew. Confirmations keep their dates; signatures are left out, since another publisher makes the statement. Two parts that
// declare the same namespace, area or topic prefix, or hold the same key, are refused.
func Join(publisher facts.Publisher, parts ...*facts.Dataset) (*facts.Dataset, error) {
	out := &facts.Dataset{Publisher: publisher}
	names := map[string]bool{}
	var changes []facts.Entry
	for i, p := range parts {
		if err := declareOnce(names, p); err != nil {
			return nil, err
		}
		offset := len(out.Topics)
		out.Namespaces, out.Areas, out.Topics = append(out.Namespaces, p.Namespaces...), append(out.Areas, p.Areas...), append(out.Topics, p.Topics...)
		for _, f := range p.Facts {
			if f.Topic >= 0 {
				f.Topic += offset
			}
			f.Values = slices.Clone(f.Values)
			for j := range f.Values {
				f.Values[j].Signature = nil
			}
			out.Facts = append(out.Facts, f)
		}
		if i == 0 {
			out.KidPrefix, out.Licence, out.Contact, out.KeyPolicy, out.History = p.KidPrefix, p.Licence, p.Contact, p.KeyPolicy, p.History
		}
		out.StopWords = append(out.StopWords, p.StopWords...)
		if len(p.JurisdictionWords) > 0 {
			if out.JurisdictionWords == nil {
				out.JurisdictionWords = map[string]string{}
			}
			maps.Copy(out.JurisdictionWords, p.JurisdictionWords)
		}
		changes = append(changes, p.Changes...)
	}
	out.Examples = interleave(parts)
	slices.Sort(out.StopWords)
	out.StopWords = slices.Compact(out.StopWords)
	slices.SortStableFunc(out.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	for i := 1; i < len(out.Facts); i++ {
		if out.Facts[i].Key == out.Facts[i-1].Key {
			return nil, fmt.Errorf("key %q stands in two of the joined datasets", out.Facts[i].Key)
		}
	}
	for i := range changes {
		changes[i].Hash, changes[i].PrevHash = "", ""
	}
	var err error
	out.Changes, err = facts.AppendEntries(nil, changes)
	return out, err
}

// declareOnce refuses what an earlier part has declared.
func declareOnce(names map[string]bool, p *facts.Dataset) error {
	var mine []string
	for _, n := range p.Namespaces {
		mine = append(mine, "namespace "+n.Name)
	}
	for _, a := range p.Areas {
		mine = append(mine, "area "+a.Name)
	}
	for _, t := range p.Topics {
		mine = append(mine, "topic "+t.Prefix)
	}
	for _, name := range mine {
		if names[name] {
			return fmt.Errorf("%s stands in two of the joined datasets", name)
		}
		names[name] = true
	}
	return nil
}

// interleave takes examples from every part in turn, up to the eight that F§8.1 allows.
func interleave(parts []*facts.Dataset) []string {
	var out []string
	for i := range 8 {
		for _, p := range parts {
			if i < len(p.Examples) && len(out) < 8 {
				out = append(out, p.Examples[i])
			}
		}
	}
	return out
}

// SignDataset signs every value of a dataset in memory, over all cores, and makes key the dataset's only one. It is for datasets that have no folder of
// their own (a demonstration, a test): a publisher's statements are signed with Sign, where the signer sees what it stands behind.
func SignDataset(ds *facts.Dataset, key *jwk.PrivateKey, validFrom facts.Date) {
	const block = 256
	n := len(ds.Facts)
	parallel((n+block-1)/block, func(b int) {
		var payload []byte
		for i := b * block; i < min(n, (b+1)*block); i++ {
			f := &ds.Facts[i]
			for j := range f.Values {
				v := &f.Values[j]
				if j > 0 && v.To.IsZero() {
					v.To = cmp.Or(f.Values[j-1].From, f.Values[j-1].Withdrawn) - 1 // the end is signed
				}
				a := facts.Attest(ds.Publisher, f.Key, v)
				payload = a.AppendCanonical(payload[:0])
				v.Signature = &facts.Signature{Kid: key.Kid(), JWS: jws.SignDetached(key, payload)}
			}
		}
	})
	public := key.Public()
	public.ValidFrom = validFrom.String()
	ds.Keys = &jwk.Set{Keys: []jwk.Key{public}}
	ds.Signed = true
}
