// Keeps the files of this folder, so that the page opens without a network.

const NAME = `namer-edge ${registration.scope} `;

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(settle()));
addEventListener("fetch", (event) => {
  const isOwn = event.request.method === "GET" && event.request.url.startsWith(registration.scope);
  if (isOwn) event.respondWith(find(event.request));
});

async function keep() {
  const cache = await caches.open(NAME + VERSION);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" })));
  await skipWaiting();
}

async function settle() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(NAME) && name !== NAME + VERSION).map((name) => caches.delete(name)));
  await clients.claim();
}

async function find(request) {
  const cache = await caches.open(NAME + VERSION);
  const kept = await cache.match(request, { ignoreSearch: true, ignoreVary: true });
  if (kept) return kept;
  const hasMode = request.mode === "navigate" || request.cache === "reload";
  const response = await fetch(hasMode ? request : new Request(request, { cache: "no-cache" }));
  const isListed = FILES.some((file) => new URL(file, registration.scope).href === request.url);
  if (response.ok && isListed) await cache.put(request, response.clone());
  return response;
}
