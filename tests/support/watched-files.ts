/**
 * The file system of a store, with somebody who is asked before and after each call that changes or reads something.
 */
import { lstatSync } from 'node:fs';
import * as files from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** The functions of Node that keep files durable, and that a store takes from a test. */
export type NodeFiles = Pick<typeof files, 'mkdir' | 'open' | 'readdir' | 'rename' | 'unlink'> & {
  readonly lstatSync: typeof lstatSync;
};

/** The functions of Node. */
export const nodeFiles: NodeFiles = { ...files, lstatSync };

/** One call. */
export interface FileCall {
  /** Method of the file system or of an open file. */
  readonly method: string;
  readonly parameters: readonly unknown[];
  /** The path with which the file was opened, for methods of an open file; else the first parameter. */
  readonly path: string;
  /** The open file, for its methods. */
  readonly file?: FileHandle;
}

/** Makes a call, with the parameters that it came with or others, or does not; what it gives is what the store gets. */
export type Watcher = (call: FileCall, make: Make) => Promise<unknown>;

type Make = (parameters?: readonly unknown[]) => Promise<unknown>;

const ofFileSystem = new Set(['mkdir', 'open', 'readdir', 'rename', 'unlink']);
const ofFile = new Set(['datasync', 'read', 'stat', 'sync', 'truncate', 'write']);

/** Gives the real file system with a watcher. The closing of files is left alone. */
export function watchedFiles(watcher: Watcher): NodeFiles {
  return watch(nodeFiles, ofFileSystem, async (method, parameters, make) => {
    const call = { method, parameters, path: String(parameters[0]) };
    return method === 'open' ? open(call, make, watcher) : watcher(call, make);
  });
}

/** A disk whose writes fail while `fails` is true, with the real file system. */
export interface FailingDisk {
  fails: boolean;
  readonly files: NodeFiles;
}

export function failingDisk(): FailingDisk {
  const disk: FailingDisk = {
    fails: false,
    files: watchedFiles(({ method }, make) =>
      disk.fails && method === 'write' ? Promise.reject(new Error('EIO: the disk failed')) : make(),
    ),
  };
  return disk;
}

async function open(call: FileCall, make: Make, watcher: Watcher): Promise<FileHandle> {
  let opened: FileHandle | undefined;
  try {
    const file = await watcher(call, async () => (opened = (await make()) as FileHandle));
    return watchedFile(file as FileHandle, call.path, watcher);
  } catch (error) {
    // A file that the store does not get is one that it cannot close.
    await opened?.close();
    throw error;
  }
}

function watchedFile(file: FileHandle, path: string, watcher: Watcher): FileHandle {
  return watch(file, ofFile, (method, parameters, make) => watcher({ method, parameters, path, file }, make));
}

type Call = (...parameters: readonly unknown[]) => Promise<unknown>;

function watch<T extends object>(
  target: T,
  methods: ReadonlySet<string>,
  around: (method: string, parameters: readonly unknown[], make: Make) => Promise<unknown>,
): T {
  // A module does not let a proxy of itself change what it has: only what is asked for in the name of another object.
  return new Proxy(Object.create(target) as T, {
    get(_empty, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as Call;
      if (typeof name !== 'string' || !methods.has(name)) return call;
      return (...parameters: readonly unknown[]) =>
        around(name, parameters, (others = parameters) => call(...others));
    },
  });
}
