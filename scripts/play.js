/**
 * Builds the playground, and serves it on this machine, under the policy of its page. `PORT=9000 npm run play` takes
 * another port.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { folder, policy } from './playground.js';

const types = { 'index.html': 'text/html', 'playground.js': 'text/javascript', 'playground.css': 'text/css' };

const server = createServer(({ url = '/' }, response) => {
  const name = url.replace(/\?.*/, '').slice(1) || 'index.html';
  if (!Object.hasOwn(types, name)) return response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': `${types[name]}; charset=utf-8`,
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
  });
  return response.end(readFileSync(`${folder}/${name}`));
});
server.listen(Number(process.env.PORT ?? 8990), '127.0.0.1');
await once(server, 'listening');
console.log(`The playground is at http://127.0.0.1:${server.address().port}/`);
console.log(`It also opens from disk: ${folder}/index.html`);
