// Wraps the function of a component that Streamlit calls to mount it.

/** Cleanup of the newest mount, by its element. @type {WeakMap<Element, () => void>} */
const newest = new WeakMap();

/**
 * Returns `mount` such that a cleanup that arrives after a newer mount is ignored: of two changes at once, Streamlit may
 * clean up the first after the second is mounted.
 * @param {(mounted: Mounted<any>) => (() => void) | undefined} mount
 * @returns {(mounted: Mounted<any>) => () => void}
 */
export function mountable(mount) {
  return (mounted) => {
    const end = mount(mounted), place = mounted.parentElement;
    const cleanUp = () => {
      if (newest.get(place) === cleanUp) end?.();
    };
    newest.set(place, cleanUp);
    return cleanUp;
  };
}
