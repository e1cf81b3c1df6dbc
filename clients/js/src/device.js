// @ts-check

/** Tabs of one browser that keep their names over a reload. Further ones have random names. */
const TABS_MAX = 8;

/** @returns {string} */
const random = () => Math.random().toString(36).slice(2, 10);

/**
 * The name of this browser, which stays the same for as long as its storage is kept. It is another
 * one for each account: subscribers are not to learn that two accounts are used in one browser.
 * @param {string | undefined} account
 */
const browser = (account) => {
  const key = "porchlight:" + account;
  let name = localStorage.getItem(key);
  if (!name) localStorage.setItem(key, (name = random()));
  return name;
};

/**
 * Acquires a lock until it is released or the page ends.
 * @param {string} name
 * @returns {Promise<(() => void) | undefined>} how to release it, or undefined if it is taken
 */
const acquire = (name) => new Promise((resolve, reject) => {
  navigator.locks.request(name, { ifAvailable: true }, (lock) =>
    lock ? new Promise((release) => resolve(() => release(undefined))) : resolve(undefined),
  ).catch(reject);
});

/**
 * A name for this device: in a browser the lowest that no other tab has, so that each tab has its
 * own, and the same again after a reload.
 * @param {string} [account]
 * @returns {Promise<{ name: string, release: () => void }>}
 */
export const device = async (account) => {
  try {
    const prefix = `web-${browser(account)}-`;
    for (let tab = 1; tab <= TABS_MAX; tab++) {
      const release = await acquire("porchlight-" + tab);
      if (release) return { name: prefix + tab, release };
    }
  } catch {
    // No storage, no locks, or an insecure context.
  }
  return { name: "web-" + random(), release: () => {} };
};
