/**
 * A self-signed certificate for servers of this machine. Node has no function that makes one, so the file writes the
 * few structures of X.509 (RFC 5280) by itself.
 */
import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate with its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes a certificate for the name `localhost` and the address 127.0.0.1.
 *
 * @param commonName - the name of its subject; of a client certificate, the role that logs in
 */
export function selfSigned(commonName = 'localhost'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(Buffer.from('06082a8648ce3d040302', 'hex')); // ecdsa-with-SHA256
  const name = sequence(set(sequence(Buffer.from('0603550403', 'hex'), text(commonName))));
  const validity = sequence(time('260101000000Z'), time('491231235959Z'));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const names = sequence(tagged(0x82, Buffer.from('localhost')), tagged(0x87, Buffer.from([127, 0, 0, 1])));
  const alternatives = sequence(Buffer.from('0603551d11', 'hex'), tagged(0x04, names));
  const content = sequence(
    tagged(0xa0, Buffer.from([2, 1, 2])), // version 3
    Buffer.from([2, 1, 1]), // serial number
    ...[algorithm, name, validity, name, key],
    tagged(0xa3, sequence(alternatives)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]);
  const der = sequence(content, algorithm, tagged(0x03, signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function set(content: Buffer): Buffer {
  return tagged(0x31, content);
}

function text(value: string): Buffer {
  return tagged(0x0c, Buffer.from(value));
}

function time(value: string): Buffer {
  return tagged(0x17, Buffer.from(value));
}

/** A value with its tag and its length. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const short =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...short]), content]);
}
