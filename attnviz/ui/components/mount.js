// What Streamlit mounts of a component.

/** What ends the newest mount, by the element it is in. @type {WeakMap<Element, () => void>} */
const newest = new WeakMap();

/**
 * The component that `mount` mounts, which ignores a cleanup that arrives after a newer mount: of two changes at once
 * Streamlit ends the first, and may do so after the second.
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
