// @ts-check
import { PorchlightError } from "./error.js";

/**
 * The service worker of the page, or an error: without one there is no push.
 * @returns {Promise<ServiceWorkerRegistration>}
 */
const worker = async () => {
  const container = globalThis.navigator?.serviceWorker;
  if (!container || !globalThis.PushManager) {
    throw new PorchlightError("This browser has no push messages.", "push_unavailable");
  }
  return container.ready;
};

/**
 * Subscribes this browser to push messages.
 * @param {() => Promise<string | undefined>} key resolves with the key of the service
 * @returns {Promise<string>} the push address of this device
 */
export const subscribe = async (key) => {
  const { pushManager } = await worker();
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

/** Ends what `subscribe` has begun. */
export const unsubscribe = async () => {
  const { pushManager } = await worker();
  await (await pushManager.getSubscription())?.unsubscribe();
};
