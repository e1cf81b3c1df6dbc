// Says whether the service is ready.
const answer = await fetch("/readyz");
const { status, detail } = await answer.json();
document.getElementById("status").textContent = answer.ok ? status : detail;
