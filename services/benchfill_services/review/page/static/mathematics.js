// Typeset formulas when they come into view. Their source is untrusted: nothing of it may load,
// link, run, or grow without bounds, and what cannot be typeset stays readable as source.
"use strict";
(() => {
  const LONGEST = 5000;
  const OPTIONS = {
    trust: false,
    // LaTeX that is merely unusual is typeset all the same; HTML extensions are refused
    strict: (code) => (code === "htmlExtension" ? "error" : "ignore"),
    maxSize: 8,
    maxExpand: 100,
    throwOnError: true,
  };

  // KaTeX writes some styles as attributes, which the page's policy refuses; the same through the
  // style's own interface is allowed, since no text of the page can reach it.
  const withoutStyleAttributes = (draw) => {
    const original = Element.prototype.setAttribute;
    Element.prototype.setAttribute = function (name, value) {
      if (name === "style") this.style.cssText = value;
      else original.call(this, name, value);
    };
    try { draw(); } finally { Element.prototype.setAttribute = original; }
  };

  const typeset = (element) => {
    const source = element.textContent;
    if (element.dataset.typeset || element.querySelector(".hidden-character")) return;
    element.dataset.typeset = "yes";
    if (source.length > LONGEST) return;
    const display = element.classList.contains("display");
    const drawn = document.createElement("span");
    try {
      withoutStyleAttributes(() => katex.render(source, drawn, { ...OPTIONS, displayMode: display }));
    } catch (error) {
      element.classList.add("not-typeset");
      element.title = "This formula cannot be typeset; its source is shown.";
      return;
    }
    element.replaceChildren(drawn);
    if (element.scrollWidth <= element.clientWidth) return;
    element.tabIndex = 0; // so that the keyboard reaches its end
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "Formula");
  };

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      typeset(entry.target);
    }
  }, { rootMargin: "600px" });

  const watch = (root) => {
    for (const element of root.querySelectorAll(".math:not([data-typeset])")) seen.observe(element);
  };
  document.addEventListener("DOMContentLoaded", () => watch(document));
  addEventListener("beforeprint", () => document.querySelectorAll(".math").forEach(typeset));
  document.addEventListener("htmx:afterSettle", (event) => watch(event.target.parentNode ?? document));
  document.addEventListener("htmx:oobAfterSwap", (event) => watch(event.target.parentNode ?? document));
  document.addEventListener("htmx:sseMessage", () => watch(document));
})();
