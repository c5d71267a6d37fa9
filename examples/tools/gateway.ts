/**
 * The gateway of a tool: its address and log-in come from the environment.
 */
import { createClient, sendWithFetch, withRetry } from 'gateway-admin-core/client';

const { GATEWAY_ADMIN_URL: url = 'http://127.0.0.1:8989', GATEWAY_ADMIN_LOGIN: login } = process.env;
const headers = login === undefined ? {} : { authorization: `Basic ${btoa(login)}` };

export const client = createClient(withRetry(sendWithFetch(url, { headers }), 30_000));
