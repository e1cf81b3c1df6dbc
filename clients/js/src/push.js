// @ts-check
import { PorchlightError } from "./error.js";

/** The service worker of the page, if it has one and the browser has push messages. */
const worker = async () =>
  globalThis.PushManager && globalThis.navigator?.serviceWorker?.getRegistration();

/**
 * Subscribes this browser to push messages.
 * @param {() => Promise<string | undefined>} key resolves with the key of the service
 * @returns {Promise<string>} the push address of this device
 */
export const subscribe = async (key) => {
  if (!await worker()) {
    const text = "The browser has no push messages, or the page no service worker.";
    throw new PorchlightError(text, "push_unavailable");
  }
  const { pushManager } = await navigator.serviceWorker.ready;
  // First: browsers ask the user only shortly after a click.
  if (await Notification.requestPermission() !== "granted") {
    throw new PorchlightError("Notifications are not allowed.", "push_denied");
  }
  const applicationServerKey = await key();
  if (!applicationServerKey) {
    throw new PorchlightError("The service has no push-key.", "push_unavailable");
  }
  const options = { userVisibleOnly: true, applicationServerKey };
  const subscription = await pushManager.subscribe(options).catch(async (error) => {
    // One for another key is in the way.
    if (!await (await pushManager.getSubscription())?.unsubscribe()) throw error;
    return pushManager.subscribe(options);
  });
  return JSON.stringify(subscription);
};

/** Ends what `subscribe` has begun, if anything. */
export const unsubscribe = async () => {
  const subscription = await (await worker())?.pushManager.getSubscription();
  await subscription?.unsubscribe();
};
