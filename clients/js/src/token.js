// @ts-check

/**
 * The account of a JWT, which is not verified here; undefined if it cannot be read.
 * @param {string | undefined} token
 * @returns {string | undefined}
 */
export const subject = (token) => {
  try {
    const [, payload] = /** @type {string} */ (token).split(".");
    const bytes = atob(payload.replace(/-/g, "+").replace(/_/g, "/"));
    // Bytes of UTF-8, each as a character, become text.
    return JSON.parse(decodeURIComponent(escape(bytes))).sub;
  } catch {
    // The service will say what is wrong with it.
  }
};
