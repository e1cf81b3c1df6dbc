// Search runs in a worker. Browsers start none for a page that is opened as a file, so that such a
// page has a hidden frame in its place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #ready = new Promise((resolve) => {
      this.#frame.hidden = true;
      this.#frame.srcdoc = "<!doctype html><body>";
      this.#frame.addEventListener("load", () => resolve(this.#frame.contentWindow));
      document.body.append(this.#frame);
    });

    constructor(address) {
      super();
      this.#ready = this.#ready.then((inside) => new Promise((resolve) => {
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.src = address;
        script.addEventListener("load", () => resolve(inside));
        inside.document.body.append(script);
      }));
    }

    postMessage(data) {
      this.#ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
