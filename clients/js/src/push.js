// @ts-check

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */

/** The service worker of the page, if it has one and the browser has push messages. */
const worker = async () =>
  globalThis.PushManager && globalThis.navigator?.serviceWorker?.getRegistration();

/**
 * Resolves when there is a session.
 * @param {Hooks} hooks
 * @returns {Promise<void>}
 */
const connected = ({ porchlight, PorchlightError }) => new Promise((resolve, reject) => {
  const look = () => {
    const { condition, error } = porchlight;
    if (condition === "connected") resolve();
    else if (condition !== "closed") porchlight.addEventListener("change", look, { once: true });
    else reject(error ?? new PorchlightError("The client was closed.", "closed"));
  };
  look();
});

/**
 * Subscribes this browser to push messages.
 * @param {Hooks} hooks
 */
const enable = async (hooks) => {
  const { porchlight, PorchlightError } = hooks;
  if (!await worker()) {
    const text = "The browser has no push messages, or the page no service worker.";
    throw new PorchlightError(text, "push_unavailable");
  }
  const { pushManager } = await navigator.serviceWorker.ready;
  // First: browsers ask the user only shortly after a click.
  if (await Notification.requestPermission() !== "granted") {
    throw new PorchlightError("Notifications are not allowed.", "push_denied");
  }
  await connected(hooks);
  const applicationServerKey = hooks.pushKey();
  if (!applicationServerKey) {
    throw new PorchlightError("The service has no push-key.", "push_unavailable");
  }
  const options = { userVisibleOnly: true, applicationServerKey };
  const subscription = await pushManager.subscribe(options).catch(async (error) => {
    // One for another key is in the way.
    if (!await (await pushManager.getSubscription())?.unsubscribe()) throw error;
    return pushManager.subscribe(options);
  });
  await porchlight.setDevice({ pushAddress: JSON.stringify(subscription) });
};

/**
 * Ends what `enable` has begun, if anything.
 * @param {Hooks} hooks
 */
const disable = async ({ porchlight }) => {
  try {
    const subscription = await (await worker())?.pushManager.getSubscription();
    await subscription?.unsubscribe();
  } finally {
    await porchlight.setDevice({ pushAddress: "" });
  }
};

/**
 * @param {Hooks} hooks
 * @returns {Part & { enable: () => Promise<void>, disable: () => Promise<void> }}
 */
export const begin = (hooks) => ({
  enable: () => enable(hooks),
  disable: () => disable(hooks),
});
