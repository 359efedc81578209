// Reads JSON Lines {jws, payload, x} on standard input and writes true or false for each: whether the detached JWS holds
// over the payload by Node's own Ed25519. Nothing but the signature is looked at.
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

for (const line of readFileSync(0, 'utf8').split('\n').filter((line) => line !== '')) {
  const { jws, payload, x } = JSON.parse(line);
  const [head, , signature] = jws.split('.');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const input = Buffer.from(head + '.' + Buffer.from(payload).toString('base64url'));
  process.stdout.write(verify(null, input, key, Buffer.from(signature, 'base64url')) + '\n');
}
