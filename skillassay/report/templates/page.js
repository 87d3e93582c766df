"use strict";
const trials = () => document.querySelectorAll("details.trial");
const reveal = () => {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }
};
addEventListener("hashchange", reveal);
addEventListener("DOMContentLoaded", reveal);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
addEventListener("click", (event) => {
  const wanted = event.target instanceof HTMLElement ? event.target.dataset.open : undefined;
  if (wanted) trials().forEach((one) => { one.open = wanted === "all"; });
  const link = event.target instanceof Element ? event.target.closest('a[href^="#t-"]') : null;
  if (link && link.hash === location.hash) reveal();
});
