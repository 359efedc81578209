// Drives one GIDP session against an agent by npm @a2a-js/sdk and writes what it saw as one JSON object. The argument is {endpoint, binding, uri, card, objects,
// session}: card is the JWK that signs cards, objects are the GIDP objects to send, in the order open, ask, answer, close. Requests are signed by npm
// http-message-signatures in a wrapper of fetch, which also keeps what the SDK hides: the echo of A2A-Extensions.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages lie in the tools folder, which is the working directory.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const { GetTaskRequest, SendMessageRequest, StreamResponse, SubscribeToTaskRequest, Task, verifyAgentCardSignature } = require('@a2a-js/sdk');
const { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } = require('@a2a-js/sdk/client');
const { httpbis } = require('http-message-signatures');

const { endpoint, binding, uri, card, objects, session } = JSON.parse(process.argv[2]);
console.debug = () => {}; // where the SDK says why a card is not verified
const seen = { echoes: [], errors: [] };

const { privateKey } = generateKeyPairSync('ed25519');
const { x } = privateKey.export({ format: 'jwk' });
const jwk = { crv: 'Ed25519', kty: 'OKP', x };
const keyid = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');

const signing = async (url, init = {}) => {
  const headers = Object.fromEntries(new Headers(init.headers));
  Object.assign(headers, { 'a2a-version': '1.0', 'a2a-extensions': uri });
  const fields = ['@method', '@authority', '@path', 'a2a-extensions', 'a2a-version'];
  if (init.body) {
    headers['content-digest'] = `sha-256=:${createHash('sha256').update(init.body).digest('base64')}:`;
    fields.push('content-digest');
  }
  const message = await httpbis.signMessage(
    {
      key: { id: keyid, alg: 'ed25519', sign: async (data) => sign(null, data, privateKey) },
      name: 'sig', fields, params: ['created', 'nonce', 'keyid', 'alg', 'tag'],
      paramValues: { created: new Date(), nonce: randomBytes(12).toString('hex'), tag: 'gidp' },
    },
    { method: init.method ?? 'GET', url: String(url), headers },
  );
  const answer = await fetch(url, { ...init, headers: message.headers });
  seen.echoes.push(answer.headers.get('a2a-extensions'));
  return answer;
};

const resolved = await new DefaultAgentCardResolver({ fetchImpl: fetch }).resolve(endpoint + '/', '.well-known/agent-card.json');
await verifyAgentCardSignature(async () => card)(resolved);
seen.card = resolved.name;
const changed = structuredClone(resolved);
changed.name += '.';
seen.changed = await verifyAgentCardSignature(async () => card)(changed).then(() => 'verified', () => 'refused');

const transports = [binding === 'REST' ? new RestTransportFactory({ fetchImpl: signing }) : new JsonRpcTransportFactory({ fetchImpl: signing })];
const client = await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports, preferredTransports: [binding === 'REST' ? 'HTTP+JSON' : 'JSONRPC'] })).createFromAgentCard(resolved);

let count = 0;
const message = (taskId, object, extra = {}) => SendMessageRequest.fromJSON({
  message: {
    messageId: `m-${++count}`, role: 'ROLE_USER', parts: [{ text: 'gidp' }], extensions: [uri], ...(taskId ? { taskId } : {}),
    ...(object ? { contextId: session, metadata: { [uri + '/object']: object, ...extra } } : {}),
  },
  configuration: { returnImmediately: true },
});
const kinds = (task) => Task.toJSON(task).artifacts?.map((a) => a.artifactId + ' ' + a.metadata[uri + '/object'].type) ?? [];
const get = (id) => client.getTask(GetTaskRequest.fromJSON({ id }));
const attempt = (name, work) => work().then(() => seen.errors.push(name + ': none'), (e) => seen.errors.push(`${name}: ${e.constructor.name.replace(/^(JsonRpc|Rest)/, '')}`));

const hello = await client.sendMessage(message());
seen.hello = hello.parts?.[0]?.content?.value;
const open = () => client.sendMessage(message('', objects[0], { [uri + '/key']: jwk }));
const { id } = await open();
seen.again = (await open()).id === id;
await client.sendMessage(message(id, objects[1]));
for (const until = Date.now() + 10000; ;) {
  seen.polled = kinds(await get(id));
  if (seen.polled.length > 1 || Date.now() > until) break;
  await new Promise((r) => setTimeout(r, 10));
}

// The stream: a snapshot, and what the answer to the agent's own request and the end of the session bring.
seen.stream = [];
for await (const event of client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))) {
  const { task, artifactUpdate, statusUpdate } = StreamResponse.toJSON(event);
  seen.stream.push(task ? `task ${task.artifacts.length}` : artifactUpdate ? `artifact ${artifactUpdate.artifact.artifactId}` : `status ${statusUpdate.status.state}`);
  if (statusUpdate?.status.state === 'TASK_STATE_INPUT_REQUIRED') await client.sendMessage(message(id, objects[2]));
  if (statusUpdate?.status.state === 'TASK_STATE_WORKING') await client.sendMessage(message(id, objects[3]));
}
seen.end = Task.toJSON(await get(id)).status.state;
await attempt('after the end', () => client.sendMessage(message(id, objects[1])));
await attempt('foreign task', () => get('none'));
console.log(JSON.stringify(seen));
