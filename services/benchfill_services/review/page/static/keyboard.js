// The page by keyboard. Keys are those of the help dialog; none works while somebody types.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  let mode = "question";

  const setMode = (wanted) => {
    mode = wanted;
    const hint = byId("say-hint");
    if (!hint) return;
    const change = mode === "change" || !byId("ask");
    hint.textContent = change ? "Ctrl+Enter requests the change" : "Ctrl+Enter asks";
    byId("change")?.classList.toggle("primary", change);
    byId("ask")?.classList.toggle("primary", !change);
  };

  const toSay = () => {
    setMode("change");
    const box = byId("say-text");
    box?.scrollIntoView({ block: "center" });
    box?.focus();
  };

  const openReasons = () => {
    const reasons = byId("reject");
    if (!reasons) return;
    reasons.open = true;
    reasons.querySelector("input[type=checkbox]").focus();
  };

  const go = (step) => {
    const rows = [...document.querySelectorAll(".row-title")];
    if (rows.length) {
      const place = rows.indexOf(document.activeElement);
      const next = place < 0 ? (step > 0 ? 0 : rows.length - 1) : place + step;
      if (next >= rows.length) document.querySelector(".pages [rel=next]")?.focus();
      else rows[Math.max(0, next)].focus();
      return;
    }
    byId(step > 0 ? "next" : "previous")?.click();
  };

  const help = () => {
    const dialog = byId("help");
    if (dialog.open) dialog.close();
    else dialog.showModal();
  };

  const ACTIONS = {
    j: () => go(1),
    k: () => go(-1),
    a: () => byId("approve")?.click(),
    r: openReasons,
    c: toSay,
    u: () => byId("undo")?.click(),
    "?": help,
  };

  const send = (field) => {
    const form = field.closest("form");
    if (!form) return;
    const change = mode === "change" || !byId("ask");
    const button = form.classList.contains("say-form")
      ? byId(change ? "change" : "ask")
      : form.querySelector("button:not([type=button])");
    button?.click();
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (event.target.closest("form")) {
        event.preventDefault();
        send(event.target);
      }
      return;
    }
    if (event.key === "Escape" && !byId("help").open) {
      if (typing(event.target)) event.target.blur();
      else if (byId("reject")?.open) {
        byId("reject").open = false;
        byId("reject").querySelector("summary").focus();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target) || (byId("help").open && event.key !== "?")) return;
    const action = ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) help();
    if (event.target.closest("[data-mode=change]")) {
      event.preventDefault();
      toSay();
    }
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.id === "say-text" && !byId("say-hint").textContent) setMode(mode);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.requestConfig?.verb === "post") setMode("question");
  });
})();
