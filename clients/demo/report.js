// Tells the page around this one, if there is one, what its user notices: how fast a state of
// another one is seen, and what is seen of a kill -9.

import { state } from "./people.js";

/** Calls `body` with each message of another page of this demo. */
export const listen = (body) => addEventListener("message", ({ data, origin }) => {
  if (origin === location.origin) body(data);
});

/**
 * Begins to report. `stateSet` is to be called when the user has chosen a state, and `received` with
 * each message; it says if it is a test's.
 */
export const report = (me, porchlight, friends, note) => {
  const tell = (what) => parent !== window && parent.postMessage({ me, ...what }, location.origin);

  // A test's message: to all of these accounts, named by `test`.
  listen(({ test, to, text }) => {
    if (!test) return;
    porchlight.send(to, text, { ext: `test:${test}` })
      .catch((error) => note(error.message, "failed"));
  });

  const seen = new Map();
  let isLive;
  const look = () => {
    for (const [account, friend] of friends) {
      const before = seen.get(account) ?? friend;
      if (before.is !== friend.is) {
        if (before.is === "online") tell({ gone: account });
      } else if (state(before) !== state(friend)) {
        tell({ saw: account });
      }
      seen.set(account, friend);
    }
    const live = [...friends.values()].every((friend) => friend.live);
    if (live !== isLive) tell({ live });
    if (porchlight.condition === "closed") tell({ left: true });
    isLive = live;
  };
  friends.addEventListener("change", look);
  porchlight.addEventListener("change", look);
  addEventListener("offline", () => tell({ left: true }));

  // The frame is as high as the page.
  new ResizeObserver(() => tell({ height: document.documentElement.offsetHeight }))
    .observe(document.documentElement);

  return {
    stateSet: () => tell({ set: true }),
    received({ from, ext }) {
      const isTest = Boolean(ext?.startsWith("test:"));
      if (isTest) tell({ test: ext.slice(5), from });
      return isTest;
    },
  };
};
