/**
 * The requests to the port of the administration interface: those of the interface, of its console, and of Prometheus.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { metricsOf, type Admin } from 'gateway-admin-core';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

/**
 * Answers `GET` and `HEAD` of `/metrics` with the figures of the gateway, `/console` with the page, and leaves all else
 * to the interface.
 */
export function createListener(admin: Admin): RequestListener {
  const handle = createNodeHandler(admin, { onError: console.error });
  const showConsole = createNodeHandler(createConsole(), { basePath: '/console', onError: console.error });
  return (request, response) => {
    const { method, url } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && url?.split('?', 1)[0] === '/metrics') void sendMetrics(admin, request, response);
    else showConsole(request, response, () => handle(request, response));
  };
}

/** Names and counts are for those alone who may read them from the interface: Prometheus logs in as a reader does. */
async function sendMetrics(admin: Admin, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', headers } = request;
  const guarded = await admin.guard({ method, target: '/metrics', headers }, 'reader');
  if (guarded.admitted) {
    const type = 'text/plain; version=0.0.4; charset=utf-8';
    response.setHeader('content-type', type).end(metricsOf(admin));
  } else {
    const { status, headers, body } = guarded.response;
    response.writeHead(status, headers).end(body);
  }
}
