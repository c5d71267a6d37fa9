/**
 * The adapter for message ports: the interface in one thread, its clients in others. For `worker_threads`, and for the
 * workers of browsers.
 *
 * @packageDocumentation
 */

export { connect } from './connect.ts';
export type { Port } from './port.ts';
export { serve, type ServeOptions } from './serve.ts';
