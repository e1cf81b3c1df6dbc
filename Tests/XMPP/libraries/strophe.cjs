// Strophe.js in Node, with the DOM that it needs: node strophe.cjs PORT ACCOUNT SECONDS
const dom = require("/usr/share/nodejs/@xmldom/xmldom");
Object.assign(globalThis, {
  XMLSerializer: dom.XMLSerializer, DOMParser: dom.DOMParser,
  document: new dom.DOMImplementation().createDocument("jabber:client", "strophe", null),
});
const { Strophe, $pres } = require("/usr/share/javascript/strophe/strophe.common.js");

const [port, account, seconds] = process.argv.slice(2);
const client = new Strophe.Connection(`ws://127.0.0.1:${port}/xmpp-websocket`);
let isEnding = false;
client.connect(`${account}@localhost/lib`, "x", (status) => {
  const { CONNECTED, DISCONNECTED, CONNFAIL, AUTHFAIL } = Strophe.Status;
  if (status === CONNECTED) {
    console.log("ready");
    client.addHandler((message) => {
      const [body] = message.getElementsByTagName("body");
      console.log(`got ${body ? Strophe.getText(body) : ""}`);
      return true;
    }, null, "message");
    client.send($pres());
    setTimeout(() => {
      console.log("still there");
      isEnding = true;
      client.disconnect();
      setTimeout(() => process.exit(0), 500);
    }, seconds * 1_000);
  } else if ([DISCONNECTED, CONNFAIL, AUTHFAIL].includes(status) && !isEnding) {
    process.exit(1);
  }
});
