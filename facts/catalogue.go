package facts

import (
	"maps"
	"slices"
	"strings"
)

// checkCatalogue checks what stands beside the facts: namespaces, areas, topics, and the order of the facts.
func (c *compiler) checkCatalogue() {
	namespaces := map[string]bool{}
	for _, n := range c.ds.Namespaces {
		if namespaces[n.Name] {
			c.report(-1, "namespace %q is declared twice", n.Name)
		}
		namespaces[n.Name] = true
	}
	areas := map[string]bool{}
	for _, a := range c.ds.Areas {
		switch {
		case a.Name == "" || strings.Contains(a.Name, ":"):
			c.report(-1, "area name %q is empty or contains a colon", a.Name)
		case areas[a.Name]:
			c.report(-1, "area %q is declared twice", a.Name)
		}
		areas[a.Name] = true
	}
	for _, t := range c.ds.Topics {
		if t.Area != "" && !areas[t.Area] {
			c.report(-1, "topic %q: area %q is not declared", t.Prefix, t.Area)
		}
	}
	for i := range c.ds.Facts {
		f := &c.ds.Facts[i]
		if err := CheckKey(f.Key); err != nil {
			c.report(i, "%v", err)
		} else if !namespaces[KeyNamespace(f.Key)] {
			c.report(i, "namespace %q is not declared", KeyNamespace(f.Key))
		}
		if f.Topic < -1 || f.Topic >= len(c.ds.Topics) {
			c.report(i, "topic index %d is out of range", f.Topic)
		}
		if len(f.Values) == 0 {
			c.report(i, "the fact has no value")
		}
		if i > 0 {
			switch before := c.ds.Facts[i-1].Key; {
			case before == f.Key:
				c.report(i, "the key stands twice in the dataset")
			case before > f.Key:
				c.report(i, "the facts are not sorted: the key stands after %q", before)
			}
		}
	}
}

// layOut assigns the rows of every fact, so that workers can fill them in any order.
func (c *compiler) layOut() {
	s := c.snapshot
	first := int32(0)
	for i := range c.ds.Facts {
		s.facts[i] = factRow{first: first, topic: int32(c.ds.Facts[i].Topic)}
		first += int32(len(c.ds.Facts[i].Values))
	}
	s.graceOf = make([]int, len(c.ds.Topics))
	for i, t := range c.ds.Topics {
		s.graceOf[i] = DefaultGraceDays
		if a := c.findArea(t.Area); a != nil {
			s.graceOf[i] = a.GraceDays
		}
	}
}

// findArea is the declared area of that name, nil when there is none.
func (c *compiler) findArea(name string) *Area {
	for i := range c.ds.Areas {
		if c.ds.Areas[i].Name == name {
			return &c.ds.Areas[i]
		}
	}
	return nil
}

// indexKeys fills the maps that Lookup reads and refuses names with two meanings (F§2.2). Map keys alias the record texts: the dataset's strings can go.
func (c *compiler) indexKeys() {
	s := c.snapshot
	for i := range s.facts {
		s.byKey[s.key(int32(i))] = int32(i)
		if area := s.area(int32(i)); area != "" {
			namespace := KeyNamespace(s.key(int32(i)))
			if !slices.Contains(s.areaNamespaces[area], namespace) {
				s.areaNamespaces[area] = append(s.areaNamespaces[area], strings.Clone(namespace))
			}
		}
	}
	c.checkChangelogNames()
	for i := range c.ds.Facts {
		for _, alias := range c.ds.Facts[i].Aliases {
			c.addAlias(i, alias)
		}
	}
	for i := range c.ds.Changes {
		c.addChangelogName(&c.ds.Changes[i])
	}
	for _, key := range c.ds.Examples {
		if _, ok := s.byKey[key]; !ok {
			c.report(-1, "example %q is not a key", key)
		}
	}
	if len(c.ds.Examples) > maxExamples {
		c.report(-1, "%d examples: at most %d are allowed", len(c.ds.Examples), maxExamples)
	}
}

// checkChangelogNames refuses two facts of one area whose keys differ in the namespace only: `<area>:<key>` would name both.
func (c *compiler) checkChangelogNames() {
	s := c.snapshot
	for i := range s.facts {
		area := s.area(int32(i))
		if len(s.areaNamespaces[area]) < 2 {
			continue
		}
		namespace, rest, _ := strings.Cut(s.key(int32(i)), "/")
		for _, other := range s.areaNamespaces[area] {
			j, ok := s.byKey[other+"/"+rest]
			if ok && other < namespace && s.area(j) == area {
				c.report(i, "the changelog name %s:%s also names %s; give one of them another area", area, rest, s.key(j))
			}
		}
	}
}

// addAlias registers an explicit alias.
func (c *compiler) addAlias(fact int, alias string) {
	s := c.snapshot
	if _, ok := s.byKey[alias]; ok {
		c.report(fact, "alias %q is itself a key", alias)
		return
	}
	if other, ok := s.aliases[alias]; ok {
		c.report(fact, "alias %q is given twice: it also names %s", alias, s.key(other))
		return
	}
	if other, ok := s.classAlias(alias); ok && other != int32(fact) {
		c.report(fact, "alias %q already names %s by an alias class", alias, s.key(other))
		return
	}
	s.aliases[strings.Clone(alias)] = int32(fact)
}

// addChangelogName registers the `<area>:<key>` of a changelog entry when the class rule does not give it. Entries keep the names they were published under,
// so a name of an old entry keeps working after its fact changed area.
func (c *compiler) addChangelogName(e *Entry) {
	s := c.snapshot
	name := e.Area + ":" + e.Key
	fact, known := s.byKey[e.FactKey]
	if !known {
		c.report(-1, "changelog: entry %s of %s names the fact %q, which is not a key", name, e.VerifiedDate, e.FactKey)
		return
	}
	if other, _, ok := s.find(name); !ok {
		s.aliases[name] = fact
	} else if other != fact {
		c.report(-1, "changelog: the name %s of %s already names %s", name, e.FactKey, s.key(other))
	}
}

// buildInfo fills Info.
func (c *compiler) buildInfo() {
	s, ds, info := c.snapshot, c.ds, &c.snapshot.info
	info.Publisher = ds.Publisher
	info.Licence, info.Contact, info.KeyPolicy, info.History = ds.Licence, ds.Contact, ds.KeyPolicy, ds.History
	if ds.SelfCheck != nil {
		selfCheck := *ds.SelfCheck
		info.SelfCheck = &selfCheck
	}
	info.Examples = slices.Clone(ds.Examples)
	info.Namespaces = slices.Clone(ds.Namespaces)
	info.Areas = slices.Clone(ds.Areas)
	input := RankerInputOf(ds)
	info.StopWords, info.JurisdictionWords = input.StopWords, input.JurisdictionWords
	info.Count = len(s.facts)
	info.Signed = ds.Signed
	info.Keys = ds.Keys
	info.NamespaceCounts = map[string]int{}
	for _, n := range info.Namespaces {
		info.NamespaceCounts[n.Name] = 0
	}
	for i := range s.facts {
		info.NamespaceCounts[KeyNamespace(s.key(int32(i)))]++
	}
	sources := map[string]struct{}{}
	for i := range s.values {
		v := &s.values[i]
		info.Newest = max(info.Newest, v.verified)
		if info.Oldest.IsZero() || v.verified < info.Oldest {
			info.Oldest = v.verified
		}
		sources[v.sourceURL()] = struct{}{}
	}
	info.Sources = slices.Sorted(maps.Keys(sources))
	c.buildAreaStats()
}

// buildAreaStats summarises the areas. A value that ended before the newest verification is history: its refresh date is no commitment any more.
func (c *compiler) buildAreaStats() {
	s, info := c.snapshot, &c.snapshot.info
	info.AreaStats = map[string]AreaStat{}
	for _, a := range info.Areas {
		info.AreaStats[a.Name] = AreaStat{}
	}
	for i := range s.facts {
		area := s.area(int32(i))
		if area == "" {
			continue
		}
		stat := info.AreaStats[area]
		stat.Count++
		lo, hi := s.valueRange(int32(i))
		for _, v := range s.values[lo:hi] {
			stat.LastVerified = max(stat.LastVerified, v.verified)
			ended := !v.to.IsZero() && v.to < info.Newest
			if !ended && !v.refresh.IsZero() && (stat.EarliestScheduled.IsZero() || v.refresh < stat.EarliestScheduled) {
				stat.EarliestScheduled = v.refresh
			}
		}
		info.AreaStats[area] = stat
	}
}
