/** The name in a link. */
export function nameInLinkOf(link: string): string {
  return decodeURIComponent(link.slice(link.lastIndexOf('/') + 1));
}
