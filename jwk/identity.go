package jwk

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// Identity opens files that are sealed to it: an age X25519 identity. One identity seals many keys, so that a passphrase, which costs about a second to
// try, is needed for the identity alone. It prints as "[sealing identity]" in every format verb, in JSON and in logs.
type Identity struct {
	secret func() *age.X25519Identity // a function for the reason given at [PrivateKey]
}

// GenerateIdentity makes an identity from the system's randomness.
func GenerateIdentity() (*Identity, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("no random bytes for a new sealing identity: %w", err)
	}
	return &Identity{secret: func() *age.X25519Identity { return id }}, nil
}

// ParseIdentity reads what [Identity.Export] wrote; errors are *Error with [BadSeal] and never show what stands in the file.
func ParseIdentity(data []byte) (*Identity, error) {
	id, err := age.ParseX25519Identity(string(bytes.TrimSuffix(data, []byte("\n"))))
	if err != nil {
		return nil, refuse(BadSeal, "the file is not a sealing identity")
	}
	return &Identity{secret: func() *age.X25519Identity { return id }}, nil
}

// Export returns the identity as one line of text, AGE-SECRET-KEY-1 and so on, with a line end. The caller stores it with mode 0600 or seals it.
func (i *Identity) Export() []byte { return []byte(i.secret().String() + "\n") }

// Seal encrypts an exported key to the identity as an age file with one X25519 recipient.
func (i *Identity) Seal(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, i.secret().Recipient())
	if err == nil {
		_, err = w.Write(plain)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("the key cannot be sealed: %w", err)
	}
	return out.Bytes(), nil
}

// Open decrypts what [Identity.Seal] wrote; errors are *Error with [BadSeal]. A file larger than any key file is refused before the work is done.
func (i *Identity) Open(sealed []byte) ([]byte, error) {
	if !Sealed(sealed) || len(sealed) > maxSealed {
		return nil, refuse(BadSeal, "the file is not a sealed key")
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), i.secret())
	if err != nil {
		return nil, refuse(BadSeal, "the key is sealed to another identity, or damaged; restore it from a copy")
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, refuse(BadSeal, "the sealed key is damaged; restore it from a copy")
	}
	return plain, nil
}

const identityText = "[sealing identity]"

// String returns "[sealing identity]".
func (i Identity) String() string { return identityText }

// GoString is [Identity.String].
func (i Identity) GoString() string { return identityText }

// Format prints [Identity.String] whatever the verb is.
func (i Identity) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, identityText) }

// MarshalText returns [Identity.String], for logs.
func (i Identity) MarshalText() ([]byte, error) { return []byte(identityText), nil }
