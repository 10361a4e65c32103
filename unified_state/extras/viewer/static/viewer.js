// Keys, more turns on scrolling, and turns of a running session. Every page also works without it.
"use strict";

const rows = () => [...document.querySelectorAll("[data-keys] > li, [data-keys] > tbody > tr, #turns > .turn")];
let selected = -1;

function select(place) {
  const all = rows();
  if (!all.length) return;
  selected = Math.max(0, Math.min(place, all.length - 1));
  all.forEach((row, at) => row.classList.toggle("selected", at === selected));
  all[selected].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing) return;
  if (event.key === "/") document.querySelector("main [type=search], [type=search]").focus();
  else if (event.key === "j") select(selected + 1);
  else if (event.key === "k") select(selected - 1);
  else if (event.key === "Enter" && rows()[selected] && event.target === document.body) {
    const row = rows()[selected];
    const fold = row.matches("details") ? row : row.querySelector("details");
    if (fold) fold.open = !fold.open;
    else row.querySelector("a").click();
  } else return;
  event.preventDefault();
});

// A click anywhere on a line of a compaction shows the turn that it came from, or else the item.
document.addEventListener("click", (event) => {
  const row = event.target.closest(".fates tbody tr");
  if (!row || event.target.closest("a") || String(window.getSelection())) return;
  (row.querySelector(".source") || row.querySelector("a")).click();
});

async function more(link) {
  const address = new URL(link.href);
  address.pathname = address.pathname.replace("/session/", "/turns/");
  const answer = await fetch(address);
  if (!answer.ok) return;
  const part = document.createElement("template");
  part.innerHTML = await answer.text();  // from our own server, where every text is escaped
  const isEarlier = link.parentElement.classList.contains("earlier");
  part.content.querySelectorAll(isEarlier ? ".later" : ".earlier").forEach((one) => one.remove());
  part.content.querySelectorAll(".turn, .compaction, .told").forEach((one) => {
    if (one.id && document.getElementById(one.id)) one.remove();
  });
  const before = document.documentElement.scrollHeight;
  link.parentElement.replaceWith(part.content);
  if (isEarlier) window.scrollBy({ top: document.documentElement.scrollHeight - before, behavior: "instant" });
  watch();
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      watcher.unobserve(entry.target);
      more(entry.target);
    }
  }
}, { rootMargin: "600px" });

function watch() {
  document.querySelectorAll(".later a[data-more]").forEach((link) => watcher.observe(link));
  document.querySelectorAll(".earlier a[data-more]").forEach((link) => {
    link.onclick = (event) => { event.preventDefault(); more(link); };
  });
}

function live(turns) {
  let shown = "";
  setInterval(async () => {
    if (document.hidden || document.querySelector(".later a[data-more]")) return;  // or the session's end is not here
    const answer = await fetch(turns.dataset.live).catch(() => null);  // the viewer may have ended
    const found = answer && answer.ok ? await answer.text() : shown;
    if (found === shown) return;
    shown = found;
    const part = document.createElement("template");
    part.innerHTML = found;
    const isAtEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
    part.content.querySelectorAll(".pages").forEach((one) => one.remove());
    const number = (turn) => Number(turn.id.slice(1));
    const first = number(part.content.querySelector(".turn[id]"));
    turns.querySelectorAll(".turn[id]").forEach((one) => {
      if (number(one) >= first && !part.content.getElementById(one.id)) one.remove();  // it became part of another one
    });
    for (const one of [...part.content.children]) {
      const old = one.id && document.getElementById(one.id);
      if (old) {
        one.querySelectorAll("details[id]").forEach((fold) => {
          const was = document.getElementById(fold.id);
          if (was) fold.open = was.open;
        });
        if (old.innerHTML !== one.innerHTML) old.replaceWith(one);
      } else turns.append(one);
    }
    document.querySelector(".live").hidden = false;
    if (isAtEnd) window.scrollTo({ top: document.documentElement.scrollHeight });
  }, 1000);
}

function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
  const all = rows();
  selected = all.indexOf(target.closest(".turn, li, tr"));
  if (selected >= 0) all[selected].classList.add("selected");
}

document.querySelectorAll("a[data-part]").forEach(async (link) => {
  const answer = await fetch(link.href);
  link.parentElement.outerHTML = answer.ok ? await answer.text() : "";
});
watch();
openTarget();
window.addEventListener("hashchange", openTarget);
const turns = document.querySelector("#turns[data-live]");
if (turns) live(turns);
