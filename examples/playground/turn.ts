/**
 * The virtual clock waits for turns of the event loop, and a browser has no quick turn. This module comes before all
 * others.
 */
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

Object.assign(globalThis, {
  setImmediate: (wake: () => void): void => {
    waiting.push(wake);
    port2.postMessage(null);
  },
});
