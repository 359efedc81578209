// Verifies records as an independent reader would: reads {record, keys} lines, answers one line each:
// {hash: bool, signature: bool}. With --sign it reads {record, jwk} lines and answers the record with hash and signature
// made here, for our own verifier to judge.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages lie in the tools folder, which is the working directory.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const jose = await import(pathToFileURL(require.resolve('jose')));
const canonicalize = (await import(pathToFileURL(require.resolve('canonicalize')))).default;

const pick = (o, names) => Object.fromEntries(names.map((n) => [n, o[n]]));
const claim = (r) => pick(r, ['key', 'value', 'unit', 'period', 'effectiveFrom', 'source']);
const hash = (r) => 'sha256:' + createHash('sha256').update(canonicalize(claim(r))).digest('hex');
const attestation = (r) => ({
  ...pick(r, ['protocol', 'key', 'hash', 'value', 'unit', 'period', 'effectiveFrom', 'effectiveTo', 'source', 'verifiedDate']),
  publisher: r.publisher.url,
});

const check = async ({ record, keys }) => {
  const [header, , signature] = record.signature.jws.split('.');
  const payload = jose.base64url.encode(canonicalize(attestation(record)));
  let ok = true;
  try {
    await jose.compactVerify(`${header}.${payload}.${signature}`, jose.createLocalJWKSet(keys), { algorithms: ['EdDSA'] });
  } catch {
    ok = false;
  }
  return { hash: hash(record) === record.hash, signature: ok };
};

const sign = async ({ record, jwk }) => {
  record.hash = hash(record);
  const key = await jose.importJWK(jwk, 'EdDSA');
  const jws = await new jose.CompactSign(new TextEncoder().encode(canonicalize(attestation(record))))
    .setProtectedHeader({ alg: 'EdDSA', kid: jwk.kid })
    .sign(key);
  const [header, , signature] = jws.split('.');
  record.signature = { alg: 'EdDSA', kid: jwk.kid, jws: `${header}..${signature}`, keys: new URL('/.well-known/jwks.json', record.publisher.url).href };
  return record;
};

const work = process.argv.includes('--sign') ? sign : check;
for (const line of readFileSync(0, 'utf8').split('\n').filter((l) => l !== '')) {
  process.stdout.write(JSON.stringify(await work(JSON.parse(line))) + '\n');
}
