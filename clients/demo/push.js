// The service worker of the demo: shows what is pushed while no page is open.
addEventListener("push", (event) => {
  const { message, account, from, body } = event.data.json();
  const options = { body, tag: message, data: { account } };
  event.waitUntil(registration.showNotification(from ?? "Porchlight", options));
});
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clients.openWindow("/?me=" + encodeURIComponent(event.notification.data.account)));
});
