// Wraps the function with which Streamlit mounts a component: unpacks its data, and ignores a late cleanup.

import { keepRequests } from "./requests.js";

/** Cleanup of the newest mount, by its element. @type {WeakMap<Element, () => void>} */
const newestCleanUp = new WeakMap();

/**
 * Returns `mount` such that it gets the data out of the list in which `component.py` sends it, perhaps with requests of
 * payloads, and that a cleanup that
 * arrives after a newer mount is ignored: of two changes at once, Streamlit may clean up the first after the second is
 * mounted.
 * @param {(mounted: Mounted<any>) => (() => void) | undefined} mount
 * @returns {(mounted: Mounted<any>) => () => void}
 */
export function mountable(mount) {
  return (mounted) => {
    keepRequests(mounted.data?.[1]);
    const endMount = mount({ ...mounted, data: mounted.data?.[0] }), element = mounted.parentElement;
    const cleanUp = () => {
      if (newestCleanUp.get(element) === cleanUp) endMount?.();
    };
    newestCleanUp.set(element, cleanUp);
    return cleanUp;
  };
}
