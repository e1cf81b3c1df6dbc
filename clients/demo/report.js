// Tells the page around this one, if there is one, what its user notices of a kill -9.

/** Calls `body` with each message of another page of this demo. */
export const listen = (body) => addEventListener("message", ({ data, origin }) => {
  if (origin === location.origin) body(data);
});

/** Begins to report. `received` is to be called with each message, and says if it is a test's. */
export const report = (me, porchlight, friends, note) => {
  const tell = (what) => parent !== window && parent.postMessage({ me, ...what }, location.origin);

  // A test's message: to all of these accounts, named by `test`.
  listen(({ test, to, text }) => {
    if (!test) return;
    porchlight.send(to, text, { ext: JSON.stringify({ test }) })
      .catch((error) => note(error.message, "failed"));
  });

  const seen = new Map();
  let isLive;
  const look = () => {
    for (const [account, { is }] of friends) {
      const before = seen.get(account) ?? "unknown";
      if (before !== "unknown" && before !== is) tell({ changed: account, is });
      seen.set(account, is);
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
    received({ from, ext }) {
      const test = ext?.startsWith('{"test":') && JSON.parse(ext).test;
      if (test) tell({ test, from });
      return Boolean(test);
    },
  };
};
