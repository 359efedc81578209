package provider

import (
	"math/bits"
	"slices"
)

// A set of slots is cut into chunks of 2^16. A chunk with few members lists them, a chunk with many is a bitmap: at the border both take 8 KiB.
const (
	chunkBits  = 16
	chunkWords = 1 << chunkBits / 64
	dense      = 4096 // members from which a chunk is a bitmap
	sparse     = 2048 // members below which a bitmap is a list again; half of dense, so that one member going to and fro costs nothing
)

// block is one chunk as a bitmap.
type block [chunkWords]uint64

// chunk is the part of a set that shares the high bits of its slots. Exactly one of list and bits is in use.
type chunk struct {
	high  uint16
	count uint32 // members of bits
	list  []uint16
	bits  *block
}

// set is a set of slots. The zero set is empty.
type set struct{ chunks []chunk }

func (s *set) find(high uint16) (int, bool) {
	return slices.BinarySearchFunc(s.chunks, high, func(c chunk, h uint16) int { return int(c.high) - int(h) })
}

func (s *set) empty() bool { return len(s.chunks) == 0 }

func (s *set) add(slot uint32) {
	high, low := uint16(slot>>chunkBits), uint16(slot)
	i, ok := s.find(high)
	if !ok {
		s.chunks = slices.Insert(s.chunks, i, chunk{high: high})
	}
	c := &s.chunks[i]
	if c.bits != nil {
		word, bit := &c.bits[low/64], uint64(1)<<(low%64)
		if *word&bit == 0 {
			*word |= bit
			c.count++
		}
		return
	}
	at, held := slices.BinarySearch(c.list, low)
	if held {
		return
	}
	c.list = slices.Insert(c.list, at, low)
	if len(c.list) >= dense {
		c.bits, c.count = new(block), uint32(len(c.list))
		for _, v := range c.list {
			c.bits[v/64] |= 1 << (v % 64)
		}
		c.list = nil
	}
}

func (s *set) remove(slot uint32) {
	high, low := uint16(slot>>chunkBits), uint16(slot)
	i, ok := s.find(high)
	if !ok {
		return
	}
	c := &s.chunks[i]
	if c.bits != nil {
		word, bit := &c.bits[low/64], uint64(1)<<(low%64)
		if *word&bit == 0 {
			return
		}
		*word &^= bit
		if c.count--; c.count < sparse {
			c.list = make([]uint16, 0, c.count)
			c.bits.each(func(v uint16) { c.list = append(c.list, v) })
			c.bits, c.count = nil, 0
		}
		return
	}
	if at, held := slices.BinarySearch(c.list, low); held {
		c.list = slices.Delete(c.list, at, at+1)
	}
	if len(c.list) == 0 {
		s.chunks = slices.Delete(s.chunks, i, i+1)
	}
}

// union returns the members of one chunk that any of the sets has: the bitmap of the only one, which is not to be changed, or into.
func union(sets []*set, high uint16, into *block) *block {
	var only *block
	parts := 0
	for _, s := range sets {
		if i, ok := s.find(high); ok {
			only = s.chunks[i].bits
			parts++
		}
	}
	if parts == 1 && only != nil {
		return only
	}
	*into = block{}
	if parts > 0 {
		for _, s := range sets {
			s.or(high, into)
		}
	}
	return into
}

// or adds the members of one chunk to a bitmap.
func (s *set) or(high uint16, to *block) {
	i, ok := s.find(high)
	if !ok {
		return
	}
	c := &s.chunks[i]
	if c.bits != nil {
		for w, v := range c.bits {
			to[w] |= v
		}
		return
	}
	for _, v := range c.list {
		to[v/64] |= 1 << (v % 64)
	}
}

// each calls f for every member, ascending.
func (b *block) each(f func(low uint16)) {
	for w, v := range b {
		for ; v != 0; v &= v - 1 {
			f(uint16(w*64 + bits.TrailingZeros64(v)))
		}
	}
}

// size is the number of members.
func (b *block) size() int {
	n := 0
	for _, v := range b {
		n += bits.OnesCount64(v)
	}
	return n
}
