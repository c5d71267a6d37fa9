/**
 * The table of commands.
 */
import { close } from './closing.ts';
import type { Command } from './command.ts';
import { completion } from './completion.ts';
import { context } from './context.ts';
import { apply, check, exportDocument, hashPassword, plan, seal } from './document.ts';
import { drain, resume } from './draining.ts';
import { events, watch } from './following.ts';
import { history, restore, undo, why } from './history.ts';
import { abandon, commandsInFlight, flush, forget, hold, release, retry, start, stop } from './operating.ts';
import { create, deletion } from './membership.ts';
import { clear, patch, set } from './patching.ts';
import { list, show } from './reading.ts';
import { status } from './status.ts';
import { user } from './users.ts';

/** Every command, by name, in the order of the help. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    status,
    list,
    show,
    watch,
    events,
    start,
    stop,
    drain,
    resume,
    close,
    set,
    clear,
    patch,
    create,
    delete: deletion,
    history,
    why,
    undo,
    restore,
    plan,
    apply,
    check,
    export: exportDocument,
    user,
    commands: commandsInFlight,
    abandon,
    retry,
    forget,
    flush,
    hold,
    release,
    context,
    seal,
    'hash-password': hashPassword,
    completion,
  } satisfies Readonly<Record<string, Command>>),
);
