package profile

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sayso/gidp"
)

// Core is the id of the profile that all others extend, and that the reference implements.
const Core = "core"

// Type is what an attribute holds.
type Type string

// The types.
const (
	Integer Type = "integer" // whole numbers of a unit: a point, a bound or a range
	Label   Type = "label"   // one label, or several that apply
	Labels  Type = "set"     // a set of labels
	Bool    Type = "bool"
)

// Key is one attribute as an editor of interests needs it; [Profile.Rules] has what the core needs.
type Key struct {
	Type        Type
	Unit        string // of an integer
	Meaning     gidp.Meaning
	Quantity    string
	Partition   string // id
	Hierarchy   string // id
	Cut         []string
	Identifying bool
	Sensitive   bool
	Default     gidp.Class // a suggestion; an attribute without an entry is evaluation_only whatever stands here
	core        bool       // comes from core
}

// Profile is a profile as it was read. It is not changed afterwards.
type Profile struct {
	ID            string
	Version       int
	Keys          map[string]Key // those of core included
	Partitions    map[string]*Partition
	Predicates    map[string]Predicate
	Minimum       []string
	Structures    []string // codes that an interest may name
	Purposes      []string // codes for SessionOpen.purpose
	Channels      []string // classes of channels for establish_direct_contact
	Relations     []string
	LeadStatement string // what an Opportunity under the profile means
	rules         *gidp.Profile
}

// Rules is the profile as the core evaluates it. The caller does not change it.
func (p *Profile) Rules() *gidp.Profile { return p.rules }

// Set is profiles and hierarchies that agree with each other. It is not changed once it has been made.
type Set struct {
	profiles    map[string]*Profile
	hierarchies map[string]*Hierarchy
}

// Profile returns a profile by its id.
func (s *Set) Profile(id string) (*Profile, bool) { p, ok := s.profiles[id]; return p, ok }

// IDs returns the ids of the profiles in order.
func (s *Set) IDs() []string { return slices.Sorted(maps.Keys(s.profiles)) }

// Hierarchy returns a hierarchy by its id.
func (s *Set) Hierarchy(id string) (*Hierarchy, bool) { h, ok := s.hierarchies[id]; return h, ok }

// Hierarchies returns the ids of the hierarchies in order.
func (s *Set) Hierarchies() []string { return slices.Sorted(maps.Keys(s.hierarchies)) }

//go:embed data
var data embed.FS

// Shipped returns the profiles that are part of the program: core, corporate transaction, executive succession, partnership and co-investment.
func Shipped() *Set { return shipped() }

var shipped = sync.OnceValue(func() *Set {
	s, err := new(Set).With(embedded("hierarchies"), embedded("core"))
	if err == nil {
		s, err = s.With(nil, embedded("profiles"))
	}
	if err != nil {
		panic("the embedded profiles do not load: " + err.Error()) // a fault of the build, which every test of this package meets
	}
	return s
})

// embedded returns the files of a folder in the order of their names.
func embedded(dir string) (out [][]byte) {
	names, err := fs.Glob(data, "data/"+dir+"/*.json")
	for _, name := range names {
		content, unread := data.ReadFile(name)
		out, err = append(out, content), errors.Join(err, unread)
	}
	if err != nil {
		panic(err) // an embedded file system has no other errors than a pattern that is none
	}
	return out
}

// maxFiles bounds one set.
const maxFiles = 256

// With returns the set with further hierarchies and profiles, each the content of one file. The set itself stays as it is. Core comes before what extends it;
// other than that the order does not matter. An error names the profile or hierarchy and what is wrong with it; nothing is added then.
func (s *Set) With(hierarchies, profiles [][]byte) (*Set, error) {
	next := &Set{profiles: map[string]*Profile{}, hierarchies: map[string]*Hierarchy{}}
	maps.Copy(next.profiles, s.profiles)
	maps.Copy(next.hierarchies, s.hierarchies)
	if len(next.profiles)+len(next.hierarchies)+len(hierarchies)+len(profiles) > maxFiles {
		return nil, fmt.Errorf("profiles: a set has at most %d files", maxFiles)
	}
	for _, content := range hierarchies {
		h, err := readHierarchy(content)
		if err != nil {
			return nil, err
		}
		if _, had := next.hierarchies[h.ID]; had {
			return nil, fmt.Errorf("hierarchy %q: the id is taken, and what it stands for never changes", h.ID)
		}
		next.hierarchies[h.ID] = h
	}
	for _, content := range profiles {
		p, err := next.read(content)
		if err != nil {
			return nil, err
		}
		if err := next.admit(p); err != nil {
			return nil, fmt.Errorf("profile %q: %w", p.ID, err)
		}
		next.profiles[p.ID] = p
	}
	return next, nil
}

// admit holds a profile to the others of the set: one id is one thing, and one quantity has partitions that refine each other.
func (s *Set) admit(p *Profile) error {
	if _, had := s.profiles[p.ID]; had {
		return errors.New("the id is taken, and what it stands for never changes")
	}
	for _, other := range s.profiles {
		for id, mine := range p.Partitions {
			for otherID, theirs := range other.Partitions {
				switch {
				case id == otherID && !mine.same(theirs):
					return fmt.Errorf("partition %q is another one in profile %q (Q-3)", id, other.ID)
				case quantityOf(id) == quantityOf(otherID) && !Nested(mine, theirs):
					return fmt.Errorf("partition %q neither refines nor coarsens %q of profile %q (Q-3)", id, otherID, other.ID)
				}
			}
		}
	}
	return nil
}

// quantityOf is the part of a partition's id before its version.
func quantityOf(id string) string { return id[:max(strings.LastIndexByte(id, '/'), 0)] }

// versioned reports whether an id is LABEL/VERSION, or AUTHORITY/NAME/VERSION.
func versioned(id string) bool {
	parts := strings.Split(id, "/")
	n := len(parts) - 1
	if len(id) > 128 || n < 1 || n > 2 {
		return false
	}
	version, err := strconv.Atoi(parts[n])
	return err == nil && version > 0 && strconv.Itoa(version) == parts[n] && !slices.ContainsFunc(parts[:n], func(part string) bool { return !isLabel(strings.ReplaceAll(part, "-", "_")) })
}

// isLabel reports whether s is lower-case ASCII letters, digits and _, beginning with a letter.
func isLabel(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// isReserved reports whether a key has a meaning of its own in the protocol.
func isReserved(key string) bool {
	reserved, _ := gidp.Reserved(key)
	return reserved || key == gidp.PrincipalIdentity
}
