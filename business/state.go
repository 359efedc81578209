package business

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"sayso/jcs"
)

// Leaf is the hash of one published object: SHA-256(tag || 0x00 || canonical form).
type Leaf [32]byte

// RecordLeaf hashes a record as slug publishes it: with its publisher, without its url, which depends on where the registry is reached.
func RecordLeaf(slug string, r *Record) (Leaf, error) {
	text, err := appendRecord(nil, r, slug, "")
	var leaf Leaf
	if err == nil {
		leaf, err = hashText("record", text)
	}
	if err != nil {
		return Leaf{}, fmt.Errorf("record %q of type %q: %w", r.ID, r.Type, err)
	}
	return leaf, nil
}

// ProfileLeaves hashes the publisher block and each location of a profile; region is the registry's. The block is what the business states: tenant and the
// members of [Info] without locations, which have leaves of their own, and without the registry's findings about authority.
func ProfileLeaves(slug, region string, p *Profile) ([]Leaf, error) {
	leaf, err := hashValue("publisher", statementOf(slug, region, p))
	if err != nil {
		return nil, fmt.Errorf("publisher block: %w", err)
	}
	leaves := []Leaf{leaf}
	for i := range p.Locations {
		if leaf, err = hashValue("location", &p.Locations[i]); err != nil {
			return nil, fmt.Errorf("location %q: %w", p.Locations[i].ID, err)
		}
		leaves = append(leaves, leaf)
	}
	return leaves, nil
}

// DocumentLeaf hashes the schema ("schema") or the holiday calendar ("calendar").
func DocumentLeaf(tag string, doc jcs.Raw) (Leaf, error) {
	if tag != "schema" && tag != "calendar" {
		return Leaf{}, errors.New("a document's leaf is tagged schema or calendar")
	}
	leaf, err := hashText(tag, doc)
	if err != nil {
		return Leaf{}, fmt.Errorf("%s.json: %w", tag, err)
	}
	return leaf, nil
}

// ContentHash folds the leaves: "sha256:" and the lower-case hex of SHA-256("xp-state-v1" || 0x00 || number of leaves as 8 bytes, big-endian || leaves
// sorted as bytes). It reorders its argument. Sorting makes the order of an import irrelevant; a sum or XOR would let somebody find other content for the
// same hash.
func ContentHash(leaves []Leaf) string {
	slices.SortFunc(leaves, func(a, b Leaf) int { return slices.Compare(a[:], b[:]) })
	h := sha256.New()
	h.Write([]byte("xp-state-v1\x00"))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(leaves))))
	for i := range leaves {
		h.Write(leaves[i][:])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func hashValue(tag string, v any) (Leaf, error) {
	text, err := jcs.Encode(v)
	if err != nil {
		return Leaf{}, err
	}
	return hashText(tag, text)
}

func hashText(tag string, text []byte) (Leaf, error) {
	tagged := make([]byte, 0, len(tag)+1+len(text))
	tagged, err := AppendCanon(append(append(tagged, tag...), 0), text)
	if err != nil {
		return Leaf{}, err
	}
	return sha256.Sum256(tagged), nil
}
