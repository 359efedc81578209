package provider

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"math/bits"
)

// order is a keyed bijection of [0, 2^width): the place of each slot in the answer to one query. Which projection came first, or last, does not show, and two
// queries show two orders (P-8). Places do not depend on what else matches, so a page continues where the last one ended although the index moves.
type order struct {
	width   uint8
	mask    uint32
	shift   uint8
	add     [orderRounds]uint32
	times   [orderRounds]uint32 // odd
	inverse [orderRounds]uint32 // times*inverse = 1 modulo 2^32, so modulo 2^width as well
}

const orderRounds = 4

// widthFor is the least width that holds slots 0 to used-1.
func widthFor(used uint32) uint8 { return uint8(max(bits.Len32(max(used, 2)-1), 1)) }

func newOrder(secret []byte, nonce [8]byte, width uint8) *order {
	mac := hmac.New(sha512.New, secret)
	mac.Write([]byte("order\x00"))
	mac.Write(nonce[:])
	key := mac.Sum(nil)
	o := &order{width: width, mask: uint32(1<<width - 1), shift: (width + 1) / 2}
	for r := range orderRounds {
		o.add[r] = binary.LittleEndian.Uint32(key[8*r:])
		m := binary.LittleEndian.Uint32(key[8*r+4:]) | 1
		inv := m // right to 3 bits; each step of Newton doubles them
		for range 4 {
			inv *= 2 - m*inv
		}
		o.times[r], o.inverse[r] = m, inv
	}
	return o
}

// place of a slot. A right shift by at least half the width is its own inverse under exclusive or.
func (o *order) place(slot uint32) uint32 {
	for r := range orderRounds {
		slot = (slot + o.add[r]) * o.times[r] & o.mask
		slot ^= slot >> o.shift
	}
	return slot
}

// slot at a place.
func (o *order) slot(place uint32) uint32 {
	for r := orderRounds - 1; r >= 0; r-- {
		place ^= place >> o.shift
		place = (place*o.inverse[r] - o.add[r]) & o.mask
	}
	return place
}
