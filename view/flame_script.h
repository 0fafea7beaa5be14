#pragma once
// The script in a flame graph. It is not needed to see the drawing.

#include <string_view>

namespace dvm::view {

// Zooms into a clicked box: it and its callers fill the width, and all boxes beside them are hidden. A click on the lowest box
// shows everything again.
// On a page narrower than the drawing it lays the boxes and the lines above them out anew, with letters as large as before.
inline constexpr std::string_view kFlameScript = R"(<script><![CDATA[
(function () {
  var side = 10, wide = 1180, letter = 7.1, line = 15;
  var svg = document.querySelector('svg'), high = +svg.getAttribute('viewBox').split(' ')[3], by = document.getElementById.bind(document);
  var boxes = Array.prototype.slice.call(document.querySelectorAll('g.f'));
  var full = wide, left = 0, span = wide, note = by('note').textContent, title = by('title').textContent;
  function name(box) { return box.querySelector('title').textContent.split('\n')[0].replace(/^([\s\S]*) \(\d+ [\s\S]*$/, '$1'); }
  function cut(text, room) { return text.length <= room ? text : room < 3 ? '' : text.slice(0, room - 2) + '..'; }
  function show(box, x, width) {
    var text = box.querySelector('text'), rect = box.querySelector('rect');
    rect.setAttribute('x', side + x); rect.setAttribute('width', width); text.setAttribute('x', side + x + 3);
    text.textContent = cut(name(box), Math.floor((width - 4) / letter));
  }
  function draw() {
    boxes.forEach(function (box) {
      var x = +box.dataset.x, w = +box.dataset.w, holds = x <= left + 0.01 && x + w >= left + span - 0.01;
      var begin = (x - left) * full / span, width = w * full / span;
      box.style.display = holds || (begin > -0.01 && begin + width < full + 0.1) ? '' : 'none';
      if (holds) show(box, 0, full); else show(box, begin, width);
    });
  }
  function broken(text, room) {
    return text.split(' ').reduce(function (lines, word) {
      var last = lines.length - 1;
      if (last >= 0 && lines[last].length + 1 + word.length <= room) lines[last] += ' ' + word; else lines.push(word);
      return lines;
    }, []);
  }
  function fit() {
    // A telephone lays a drawing without a page out for a wider screen, and shrinks it.
    var whole = window.innerWidth, seen = window.parent === window ? Math.min(whole, screen.width || whole) : whole, isShrunk = seen < whole;
    var room = Math.max(200, Math.min(wide, seen - 2 * side)), right = side + room;
    if (room === full) return;
    full = room;
    var isNarrow = full < wide, lines = isNarrow ? broken(note, Math.floor(full / 7.3)) : [note], holder = by('note');
    holder.textContent = '';
    lines.forEach(function (text, i) {
      var part = document.createElementNS('http://www.w3.org/2000/svg', 'tspan');
      part.setAttribute('x', side); part.setAttribute('y', 42 + line * i); part.textContent = text;
      holder.appendChild(part);
    });
    var more = isNarrow ? line * lines.length : 0;
    by('title').textContent = cut(title, Math.floor((full - 60) / 9.7));
    by('search').setAttribute('x', right); by('found').setAttribute('x', right); by('found').setAttribute('y', 42 + more);
    by('boxes').setAttribute('transform', 'translate(0,' + more + ')');
    svg.setAttribute('viewBox', '0 0 ' + (right + side) + ' ' + (high + more)); svg.style.maxWidth = isShrunk ? 'none' : (right + side) + 'px';
    draw();
  }
  boxes.forEach(function (box) { box.addEventListener('click', function () { left = +box.dataset.x; span = +box.dataset.w; draw(); }); });
  by('search').addEventListener('click', function () {
    var word = prompt('Frames that contain', ''), spans = [], sum = 0, end = -1;
    boxes.forEach(function (box) {
      var hit = word && name(box).indexOf(word) >= 0;
      box.setAttribute('class', hit ? 'f m' : 'f');
      if (hit) spans.push([+box.dataset.x, +box.dataset.x + +box.dataset.w]);
    });
    spans.sort(function (a, b) { return a[0] - b[0]; }).forEach(function (s) {
      sum += Math.max(0, s[1] - Math.max(s[0], end)); end = Math.max(end, s[1]);
    });
    by('found').textContent = word ? (100 * sum / wide).toFixed(2) + ' % contain ' + word : '';
  });
  window.addEventListener('resize', fit);
  fit();
})();
]]></script>
)";

}  // namespace dvm::view
