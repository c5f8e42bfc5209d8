// What htmx leaves open: doubles in the stream, order, and what was typed while a form was replaced.
"use strict";
(() => {
  const transcript = () => document.getElementById("transcript");
  const announce = (words) => {
    const place = document.getElementById("announce");
    if (place) place.textContent = words;
  };

  // a connection that was made anew may bring what is here already
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    const found = /<li [^>]*id="(m-[0-9a-z.-]+)"/.exec(event.detail.data ?? "");
    if (found && document.getElementById(found[1])) event.preventDefault();
  });

  // what was hidden until all verdicts were in goes to its place in time
  const inOrder = (entry) => {
    if (!entry.id.startsWith("m-") || entry.id.startsWith("m-f")) return;
    let before = entry.previousElementSibling;
    while (before?.dataset.at && !before.id.startsWith("m-f") && before.dataset.at > entry.dataset.at) {
      before = before.previousElementSibling;
    }
    if (before !== entry.previousElementSibling) {
      if (before) before.after(entry);
      else entry.parentNode.prepend(entry);
    }
  };
  document.addEventListener("htmx:sseMessage", () => {
    const list = transcript();
    const entry = list?.lastElementChild;
    if (!entry?.dataset.at) return;
    document.getElementById("nothing")?.remove();
    inOrder(entry);
    entry.classList.add("fresh");
    announce(`New message of ${entry.dataset.author}`);
  });

  // "later" may bring what the stream has brought before
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!/\/(earlier|later)\?/.test(event.detail.pathInfo?.requestPath ?? "")) return;
    const made = document.createElement("template");
    made.innerHTML = event.detail.serverResponse;
    for (const entry of made.content.querySelectorAll("[id^='m-']")) {
      if (document.getElementById(entry.id)) entry.remove();
    }
    event.detail.serverResponse = made.innerHTML;
  });

  // the session of this page has ended; another tab may have begun a new one
  document.addEventListener("htmx:sseClose", async (event) => {
    if (event.detail.type !== "message") return;
    const answer = await fetch(`${location.pathname}${location.search}`, { redirect: "manual" });
    const said = document.createElement("p");
    const link = document.createElement("a");
    if (answer.ok) {
      said.className = "notice";
      said.textContent = "You signed in anew. Reload to see messages as they come: ";
      link.href = location.href;
      link.textContent = "reload";
    } else {
      said.className = "notice bad";
      said.textContent = "You are signed out. What you typed is still here; sign in to send it. ";
      link.href = "/review/sign-in";
      link.target = "_blank";
      link.textContent = "Sign in in a new tab";
    }
    said.append(link);
    document.getElementById("notice")?.replaceChildren(said);
  });

  // What is typed survives reloads and replaced forms, until it is sent. A tab keeps its own.
  const fields = () => document.querySelectorAll("main textarea[id], main input[type=checkbox][id]");
  const keyOf = (field) => `draft ${location.pathname} ${field.id}`;
  const valueOf = (field) => (field.type === "checkbox" ? (field.checked ? "1" : "") : field.value);
  const store = (field) => {
    try {
      if (valueOf(field)) sessionStorage.setItem(keyOf(field), valueOf(field));
      else sessionStorage.removeItem(keyOf(field));
    } catch { /* then it is kept as long as the page is */ }
  };
  const restore = () => {
    for (const field of fields()) {
      if (valueOf(field)) continue;
      let kept = null;
      try { kept = sessionStorage.getItem(keyOf(field)); } catch { /* none */ }
      if (!kept) continue;
      if (field.type === "checkbox") field.checked = true;
      else field.value = kept;
      field.closest("details")?.setAttribute("open", "");
    }
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("main textarea[id], main input[type=checkbox][id]")) store(event.target);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("main input[type=checkbox][id]")) store(event.target);
  });
  const forget = (form) => {
    for (const field of form.querySelectorAll("textarea[id], input[type=checkbox][id]")) {
      try { sessionStorage.removeItem(keyOf(field)); } catch { /* none */ }
    }
  };
  document.addEventListener("htmx:beforeSwap", (event) => {
    const form = event.detail.requestConfig?.elt?.closest?.("form");
    if (form && event.detail.xhr.status < 400) forget(form);
  });
  document.addEventListener("htmx:afterSettle", restore);
  document.addEventListener("DOMContentLoaded", restore);
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-clears-drafts]")) {
      try { sessionStorage.clear(); } catch { /* none */ }
    }
  });

  // a session that was renewed in another tab: the forms of this one get its token
  document.addEventListener("review:csrf", (event) => {
    for (const field of document.querySelectorAll("input[name=csrf]")) field.value = event.detail.value;
  });

  // good news need not stay: the desk says the same
  const fade = () => {
    const said = document.querySelector("#notice .notice.good");
    if (said) setTimeout(() => said.remove(), 8000);
  };
  document.addEventListener("DOMContentLoaded", fade);

  // after a decision the focus goes to what was said about it
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.requestConfig?.verb !== "post") return;
    const said = document.querySelector("#notice .notice");
    if (said && !document.activeElement?.matches("textarea")) said.focus({ preventScroll: true });
    fade();
  });
})();
