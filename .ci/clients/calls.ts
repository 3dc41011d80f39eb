// Calls the server with the client that openapi-ts has made.

import { client } from './client/client.gen.js';
import {
  createBucket,
  createOutput,
  deleteBucket,
  getApiKey,
  getBucket,
  getConfig,
  listLogs,
  type Rules,
} from './client/index.js';

declare const process: { env: Record<string, string | undefined> };

function expect<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(`refused: ${answer.error}`);
  return answer.data;
}

function check(holds: boolean, what: unknown): void {
  if (!holds) throw new Error(JSON.stringify(what));
}

client.setConfig({ baseUrl: process.env.BASE, auth: process.env.KEY });
const config = expect(await getConfig());
check(config.version !== '', config);
check(expect(await getApiKey()).enabled, 'the key is enabled');

const bucket = expect(await createBucket({ body: { name: 'made in TypeScript' } }));
const path = { id: bucket.id ?? '' };
const rules: Rules = {
  match: { type: 'regex', regex: '^/orders', parameter: { source: 'request', name: 'path' } },
};
const body = { name: 'to clients', internal: true, rules };
const output = expect(await createOutput({ path, body }));
check(output.rules?.match?.type === 'regex', output);

const read = expect(await getBucket({ path }));
check(read.outputs?.length === 1 && read.outputs[0]?.id === output.id, read);
const logs = expect(await listLogs({ query: { limit: 1 } }));
check(logs.limit === 1, logs);
const deleted = expect(await deleteBucket({ path, query: { force: true } }));
check(deleted.status === 'deleted', deleted);

const refused = await getConfig({ auth: 'sk-wrong' });
check(refused.response?.status === 401, refused.error);
console.log('the TypeScript client: 7 operations');
