/**
 * The gateway of a tool, whose address and log-in come from the environment, and how a tool ends.
 */
import { createClient, sendWithFetch, withRetry } from 'gateway-admin-core/client';

const { GATEWAY_ADMIN_URL: url = 'http://127.0.0.1:8989', GATEWAY_ADMIN_LOGIN: login } = process.env;
const headers = login === undefined ? {} : { authorization: `Basic ${btoa(login)}` };

// An operator reads the sentence of an error, and not where the tool has met it.
process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});

export const client = createClient(withRetry(sendWithFetch(url, { headers }), 30_000));
