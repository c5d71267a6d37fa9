/**
 * Links of resources.
 */

/** The name in a link. */
export function nameInLink(link: string): string {
  const name = link.slice(link.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
