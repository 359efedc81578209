// Reads JSON Lines {mandate} and writes for each what npm @sd-jwt/core reads in it: {header, payload}, or {error}. The signature is verified by Node's Ed25519, with
// the key of the header.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages lie in the tools folder, which is the working directory.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const { SDJwt, SDJwtInstance } = require('@sd-jwt/core');
const hasher = async (data) => createHash('sha256').update(typeof data === 'string' ? data : Buffer.from(data)).digest();

for (const line of readFileSync(0, 'utf8').split('\n').filter((line) => line !== '')) {
  const { mandate } = JSON.parse(line);
  try {
    const { jwt } = await SDJwt.decodeSDJwt(mandate, hasher);
    const key = createPublicKey({ key: jwt.header.jwk, format: 'jwk' });
    const reader = new SDJwtInstance({ hasher, hashAlg: 'sha-256', verifier: async (data, signature) => verify(null, Buffer.from(data), key, Buffer.from(signature, 'base64url')) });
    const { payload } = await reader.verify(mandate, { currentDate: jwt.payload.iat });
    console.log(JSON.stringify({ header: jwt.header, payload }));
  } catch (e) {
    console.log(JSON.stringify({ error: e.constructor.name }));
  }
}
