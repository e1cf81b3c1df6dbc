// What can happen between a client and the service: a relay whose connections can be cut and muted,
// and an environment that can be frozen as a tab is.
import net from "node:net";
import { common } from "../src/environment.js";

/** A port that passes bytes on to the service, both ways. */
export class Relay {
  #server;
  #pairs = new Set();
  #isMute = false;
  /** Called with what would pass: if it returns true, that is lost, and the connection with it. */
  loses = () => false;

  async start(port) {
    this.#server = net.createServer((client) => {
      const pair = { client, service: net.connect(port, "127.0.0.1"), isMute: this.#isMute };
      this.#pairs.add(pair);
      this.#pass(pair, client, pair.service);
      this.#pass(pair, pair.service, client);
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.port = this.#server.address().port;
    return this;
  }

  #pass(pair, from, to) {
    from.setNoDelay(true);
    from.on("data", (data) => {
      if (this.loses(data)) [from, to].map((side) => side.destroy());
      else if (!pair.isMute) to.write(data);
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#pairs.delete(pair);
      // Neither side of a mute connection learns that the other has gone.
      if (!pair.isMute) to.destroy();
    });
  }

  /** Ends all connections. */
  cut() {
    for (const { client, service } of this.#pairs) {
      client.destroy();
      service.destroy();
    }
  }

  /** From now on nothing arrives, over old connections and new ones, and neither side knows. */
  mute() {
    this.#isMute = true;
    for (const pair of this.#pairs) pair.isMute = true;
  }

  /** New connections work. What was mute stays so. */
  heal() {
    this.#isMute = false;
  }

  end() {
    this.cut();
    this.#server.close();
  }
}

/**
 * A platform for a client: its clock runs `speed` times as fast, so that renewals and delays come
 * soon, and it can stand still as in a frozen tab.
 */
export class Platform {
  #speed;
  #random;
  #open;
  #begin = Date.now();
  #isFrozen = false;
  #late = [];

  constructor(speed, random, open) {
    this.#speed = speed;
    this.#random = random;
    this.#open = open;
  }

  /** Runs an action now, or when the tab is thawed. */
  #run(action) {
    if (this.#isFrozen) this.#late.push(action);
    else action();
  }

  freeze() {
    this.#isFrozen = true;
  }

  thaw() {
    this.#isFrozen = false;
    const late = this.#late;
    this.#late = [];
    for (const action of late) action();
  }

  environment(client = "other") {
    return {
      client,
      random: this.#random,
      now: () => this.#begin + (Date.now() - this.#begin) * this.#speed,
      after: (milliseconds, action) => {
        let isOver = false;
        const cancel = common.after(milliseconds / this.#speed,
          () => this.#run(() => isOver || action()));
        return () => {
          isOver = true;
          cancel();
        };
      },
      open: (url, events) => this.#open(url, {
        opened: () => this.#run(events.opened),
        received: (message) => this.#run(() => events.received(message)),
        closed: (...why) => this.#run(() => events.closed(...why)),
      }),
      device: async () => ({ name: "d", release: () => {} }),
      listen: (online, offline) => {
        this.network = { online, offline };
        return () => {};
      },
    };
  }
}
