// The service worker of the demo: shows what is pushed while no page is open.
addEventListener("push", (event) => {
  const { message, account, from, body } = event.data.json();
  const options = { body, tag: message, icon: "icon.svg", data: { account } };
  event.waitUntil(registration.showNotification(from ?? "Porchlight", options));
});
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { account } = event.notification.data;
  event.waitUntil(clients.openWindow("/person.html?me=" + encodeURIComponent(account)));
});
