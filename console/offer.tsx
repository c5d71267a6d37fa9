/**
 * Offers: what can be done to a resource, or to several at once, or could.
 */
import type { May } from 'gateway-admin-core';

import { actsOnResource, onEach, type Act, type Subject } from './act.ts';
import { Menu } from './menu.tsx';
import { usePage } from './page.ts';
import { text } from './text.ts';

/** An act, and why it is not possible; without a reason if it is. */
export interface Offer {
  /** What stays, also if the act has another title after a change. */
  readonly key: string;
  readonly act: Act;
  /** What the button says. Default: the title of the act. */
  readonly label?: string;
  readonly reason: string | undefined;
}

/** A resource to which something can be done. */
export interface Offered {
  readonly subject: Subject;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly etag?: string | undefined;
  /** What the person may do with it; left out if that was not asked: then the plan says. */
  readonly may?: readonly May[] | undefined;
}

/** The acts on all of these resources that would change one of them. */
export function offersOn(all: readonly Offered[]): readonly Offer[] {
  const [first, ...others] = all;
  if (first === undefined) return [];
  const subjects = all.map(({ subject }) => subject);
  const { collection } = first.subject;
  return actsOnResource.flatMap(({ id, act: make, isMoot, despite }): readonly Offer[] => {
    const rows = all.map(({ may }) => may?.find((each) => each.id === id));
    if (all.some(({ may }, at) => may !== undefined && rows[at] === undefined)) return [];
    if (!id.startsWith(`${collection}.`) && first.may === undefined) return [];
    if (all.every(({ resource }) => isMoot?.(resource) === true)) return [];
    const at = rows.findIndex((row) => row?.allowed === false);
    const refusal = rows[at];
    const hasWay = refusal?.allowed === false && refusal.code === despite;
    if (despite !== undefined && !hasWay) return [];
    const own = make(first.subject, first.resource, first.etag);
    const key = `${id} ${despite ?? ''}`;
    const reason = refusal?.allowed === false && !hasWay ? refusal.detail : undefined;
    if (others.length === 0) return [{ key, act: own, reason }];
    // What has options or closes cannot be a part of a sequence.
    if (own.options !== undefined || own.closesAll === true) return [];
    const name = text.eachOf(collection, all.length);
    const label = make({ ...first.subject, name }, {}).title;
    return [{ key, act: onEach(make, subjects), label, reason }];
  });
}

interface ListProps {
  readonly offers: readonly Offer[];
  /** Whether an act is behind the menu although it is possible. */
  readonly isRare?: (act: Act) => boolean;
  /** What the acts are about. */
  readonly of: string;
}

/** Acts in a row, and in a menu those that are rare or not possible, with the reason. */
export function OfferList({ offers, isRare = () => false, of }: ListProps) {
  const isBehind = ({ act, reason }: Offer): boolean => reason !== undefined || isRare(act);
  const behind = offers.filter(isBehind);
  return (
    <>
      {offers
        .filter((each) => !isBehind(each))
        .map(({ key, ...offer }) => (
          <OfferButton key={key} offer={offer} />
        ))}
      {behind.length > 0 && (
        <Menu label={text.drawer.more} of={text.drawer.moreOf(of)}>
          {behind.map(({ key, ...offer }) => (
            <OfferButton key={key} offer={offer} />
          ))}
        </Menu>
      )}
    </>
  );
}

/** A button that opens the plan of an act, or says why that is not possible. */
function OfferButton({ offer: { act, label = act.title, reason } }: { readonly offer: Omit<Offer, 'key'> }) {
  const page = usePage();
  const id = act.row ?? act.id;
  return (
    <>
      <button
        class={/[.](?:delete|close)/.test(id) ? 'danger' : ''}
        aria-disabled={reason !== undefined}
        aria-describedby={reason === undefined ? undefined : `may-${id}`}
        onClick={(event) => {
          if (reason === undefined) page.ask(act);
          else event.stopPropagation();
        }}
      >
        {label}
      </button>
      {reason !== undefined && (
        <p class="soft" id={`may-${id}`}>
          {reason}
        </p>
      )}
    </>
  );
}
