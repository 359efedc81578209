// Reads JSON Lines {method, url, headers, x} and writes true or false for each: whether npm http-message-signatures verifies the request by the key x.
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages lie in the tools folder, which is the working directory.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const { httpbis } = require('http-message-signatures');

for (const line of readFileSync(0, 'utf8').split('\n').filter((line) => line !== '')) {
  const { method, url, headers, x } = JSON.parse(line);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const config = {
    keyLookup: async ({ keyid }) => ({ id: keyid, algs: ['ed25519'], verify: async (data, signature) => verify(null, data, key, signature) }),
    requiredParams: ['created', 'nonce', 'keyid', 'alg', 'tag'], requiredFields: ['@method', '@authority', '@path', 'content-digest', 'a2a-extensions', 'a2a-version'],
  };
  const holds = await httpbis.verifyMessage(config, { method, url, headers }).catch(() => false);
  process.stdout.write((holds === true) + '\n');
}
