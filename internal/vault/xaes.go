package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

const (
	nonceSize = 24
	tagSize   = 16
)

// xaes is XAES-256-GCM (c2sp.org/XAES-256-GCM): AES-256-GCM under a key that is derived from the first twelve bytes of the nonce by the counter mode of
// NIST SP 800-108 over CMAC.
type xaes struct {
	block cipher.Block
	k1    [aes.BlockSize]byte
}

func newXAES(key []byte) (xaes, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return xaes{}, err
	}
	x := xaes{block: block}
	block.Encrypt(x.k1[:], x.k1[:])
	var msb byte // K1 is L doubled in GF(2^128)
	for i := len(x.k1) - 1; i >= 0; i-- {
		msb, x.k1[i] = x.k1[i]>>7, x.k1[i]<<1|msb
	}
	x.k1[len(x.k1)-1] ^= msb * 0x87
	return x, nil
}

func (x *xaes) gcm(nonce []byte) (cipher.AEAD, error) {
	key := make([]byte, 0, 2*aes.BlockSize)
	for counter := byte(1); counter <= 2; counter++ {
		m := [aes.BlockSize]byte{0, counter, 'X', 0}
		copy(m[4:], nonce[:12])
		subtle.XORBytes(m[:], m[:], x.k1[:])
		x.block.Encrypt(m[:], m[:])
		key = append(key, m[:]...)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (x *xaes) seal(dst, nonce, plain, place []byte) ([]byte, error) {
	gcm, err := x.gcm(nonce)
	if err != nil {
		return nil, err
	}
	return gcm.Seal(dst, nonce[12:], plain, place), nil
}

func (x *xaes) open(nonce, sealed, place []byte) ([]byte, error) {
	gcm, err := x.gcm(nonce)
	if err != nil {
		return nil, err
	}
	return gcm.Open(nil, nonce[12:], sealed, place)
}
