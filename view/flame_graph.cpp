// Tested by tests/unit/view/flame_graph_test.cpp.

#include "view/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace dvm::view {
namespace {

constexpr double kBoxHeight = 17, kTop = 58, kBottom = 12, kSide = 10;  // pixels
constexpr double kCharacter = 7.1;                                      // width of one, of the font below

// A frame with its callers. Children are in the order of their names, so that two drawings can be compared.
struct Node {
  double weight = 0, before = 0;
  std::map<std::string, double> places;  // by FILE:LINE, of the weight
  std::map<std::pair<std::string, FrameKind>, std::unique_ptr<Node>> children;
};

Node& child(Node& parent, const Frame& frame) {
  std::unique_ptr<Node>& found = parent.children[{frame.name, frame.kind}];
  if (!found) found = std::make_unique<Node>();
  return *found;
}

Status add(Node& root, const std::vector<FoldedStack>& stacks, double Node::*weight) {
  for (const FoldedStack& stack : stacks) {
    if (stack.weight <= 0) continue;
    if (stack.frames.size() > kMostFlameFrames)
      return Error{fmt::format("a stack has {} frames; a flame graph takes {}", stack.frames.size(), kMostFlameFrames)};
    Node* at = &root;
    const auto value = static_cast<double>(stack.weight);
    at->*weight += value;
    for (const Frame& frame : stack.frames) {
      at = &child(*at, frame);
      at->*weight += value;
      if (weight == &Node::weight && !frame.place.empty()) at->places[frame.place] += value;
    }
  }
  return {};
}

// Text in XML: what has a meaning there is escaped, what may not stand there is replaced. A byte that is no UTF-8 would make the
// file unreadable.
std::string escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
    const std::string_view rest = text.substr(i + 1, length > 0 ? length - 1 : 0);
    const bool follows =
        std::all_of(rest.begin(), rest.end(), [](char b) { return (static_cast<unsigned char>(b) & 0xc0) == 0x80; });
    if (length == 0 || rest.size() + 1 != length || !follows || (c < ' ' && c != '\t') || c == 0x7f) {
      out += '_';
    } else if (length > 1) {
      out += text.substr(i, length);
      i += length - 1;
    } else if (c == '&' || c == '<' || c == '>' || c == '"') {
      out += fmt::format("&#{};", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string shortened(const std::string& name, double width) {
  const auto room = static_cast<size_t>(std::max(0.0, (width - 4) / kCharacter));
  if (name.size() <= room) return name;
  return room < 3 ? std::string() : name.substr(0, room - 2) + "..";
}

// Which boxes are drawn first: by width, then by row from the bottom, as a number below 0.
using Rank = std::pair<double, double>;
constexpr Rank kLeastRank{0.1, -1e9};  // pixels

// One drawing: the boxes, and what they need to know of the whole.
class Drawing {
 public:
  Drawing(const FlameStyle& style, const Node& root, bool is_difference)
      : style_(style), root_(root), is_difference_(is_difference), scale_((style.width - 2 * kSide) / root.weight) {}

  std::string draw() {
    least_ = least_rank();
    depth_ = depth(root_, 0);
    add_box({"all", FrameKind::key}, root_, 0, 0);
    add_children(root_, 0, 1);
    return head() + boxes_ + "</g>\n" + script() + "</svg>\n";
  }

 private:
  Rank rank_of(const Node& node, size_t row) const { return {node.weight * scale_, -static_cast<double>(row)}; }

  // Boxes of lower rank are left out, so that at most kMostFlameBoxes are drawn. No box has a higher rank than its caller.
  Rank least_rank() const {
    std::vector<Rank> ranks;
    const auto collect = [&](const Node& node, size_t row, auto& self) -> void {
      if (const Rank rank = rank_of(node, row); rank >= kLeastRank) ranks.push_back(rank);
      for (const auto& [key, inner] : node.children) self(*inner, row + 1, self);
    };
    collect(root_, 0, collect);
    if (ranks.size() <= kMostFlameBoxes) return kLeastRank;
    std::nth_element(ranks.begin(), ranks.begin() + kMostFlameBoxes, ranks.end(), std::greater<>());
    const Rank highest_left_out = ranks[kMostFlameBoxes];
    return {highest_left_out.first, highest_left_out.second + 0.5};
  }

  // With its callees; those of weight 0 are only in the run before.
  static size_t boxes_of(const Node& node) {
    size_t count = node.weight > 0 ? 1 : 0;
    for (const auto& [key, inner] : node.children) count += boxes_of(*inner);
    return count;
  }

  // Rows of boxes that are drawn.
  size_t depth(const Node& node, size_t row) const {
    size_t most = 0;
    if (rank_of(node, row) < least_) return 0;
    for (const auto& [key, inner] : node.children) most = std::max(most, depth(*inner, row + 1));
    return most + 1;
  }

  void add_children(const Node& node, double x, size_t row) {
    for (const auto& [key, inner] : node.children) {
      const double width = inner->weight * scale_;
      if (rank_of(*inner, row) < least_) {
        omitted_ += boxes_of(*inner);
        continue;
      }
      add_box(key, *inner, x, row);
      add_children(*inner, x, row + 1);
      x += width;
    }
  }

  void add_box(const std::pair<std::string, FrameKind>& key, const Node& node, double x, size_t row) {
    const auto& [name, kind] = key;
    kinds_.insert(kind);
    const double width = node.weight * scale_, y = kTop + static_cast<double>(depth_ - 1 - row) * kBoxHeight;
    boxes_ += fmt::format(
        "<g class=\"f\" data-x=\"{0:.2f}\" data-w=\"{1:.2f}\"><title>{2}</title><rect x=\"{3:.2f}\" y=\"{4:.0f}\" "
        "width=\"{1:.2f}\" "
        "height=\"{5:.0f}\" fill=\"{6}\"/><text x=\"{7:.2f}\" y=\"{8:.0f}\">{9}</text></g>\n",
        x, width, tooltip(name, node), kSide + x, y, kBoxHeight - 1, colour(name, kind, node), kSide + x + 3, y + 12.5,
        escaped(shortened(name, width)));
  }

  std::string tooltip(const std::string& name, const Node& node) const {
    std::string text = fmt::format("{} ({:.0f} {}, {:.2f} %", name, node.weight, style_.unit, 100 * node.weight / root_.weight);
    if (is_difference_) text += fmt::format("; {:+.2f} %", 100 * growth(node));
    return escaped(text + ")") + places_of(node);
  }

  // In XML: the places with the most weight, a line each; with their shares if there are several.
  static std::string places_of(const Node& node) {
    constexpr size_t kMost = 4;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [place, weight] : node.places) order.emplace_back(-weight, place);
    std::sort(order.begin(), order.end());
    std::string text;
    for (size_t i = 0; i < std::min(order.size(), kMost); i++) {
      text += "&#10;" + escaped(order[i].second);
      if (order.size() > 1) text += fmt::format(" {:.0f} %", -100 * order[i].first / node.weight);
    }
    return order.size() > kMost ? fmt::format("{}&#10;{} more lines", text, order.size() - kMost) : text;
  }

  double growth(const Node& node) const {
    return node.weight / root_.weight - (root_.before > 0 ? node.before / root_.before : 0);
  }

  // By the kind and the name, so that a function has its colour in every drawing; or by what changed.
  std::string colour(const std::string& name, FrameKind kind, const Node& node) const {
    if (is_difference_) {
      const double change = std::clamp(growth(node) * 10, -1.0, 1.0);
      if (change == 0) return "rgb(235,235,235)";
      const int pale = static_cast<int>(235 - 150 * std::abs(change));
      return change >= 0 ? fmt::format("rgb(245,{0},{0})", pale) : fmt::format("rgb({0},{0},245)", pale);
    }
    const size_t hash = std::hash<std::string>()(name);
    const int a = static_cast<int>(hash % 55), b = static_cast<int>(hash / 64 % 120);
    if (kind == FrameKind::kernel) return fmt::format("rgb({},{},{})", 165 + a, 130 + b / 3, 200 + a);
    if (kind == FrameKind::inlined) return fmt::format("rgb({},{},{})", 110 + a, 190 + a, 130 + b / 2);
    if (kind == FrameKind::key) return fmt::format("rgb({0},{0},{0})", 195 + a / 2);
    return style_.palette == FlamePalette::hot ? fmt::format("rgb({},{},{})", 200 + a, 90 + b, 40)
                                               : fmt::format("rgb({},{},{})", 70 + b / 2, 120 + b, 200 + a);
  }

  std::string legend() const {
    if (is_difference_) return "; red: a larger share than before; blue: a smaller one";
    std::string text;
    if (kinds_.contains(FrameKind::kernel)) text += "; violet: kernel";
    if (kinds_.contains(FrameKind::inlined)) text += "; green: inlined";
    return text;
  }

  std::string head() const {
    const double height = kTop + static_cast<double>(depth_) * kBoxHeight + kBottom;
    std::string note = fmt::format("{:.0f} {}", root_.weight, style_.unit);
    if (omitted_ > 0) note += fmt::format("; {} boxes narrower than {:.2g} pixels are not drawn", omitted_, least_.first);
    note += legend();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"100%\" style=\"max-width:{0}px\" "
        "font-family=\"monospace\" font-size=\"12\">\n"
        "<style>.f{{cursor:pointer}}.f:hover rect{{stroke:#000}}.f text{{pointer-events:none;fill:#000}}.m "
        "rect{{fill:#e04fd0}}</style>\n"
        "<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"#fbfaf6\"/>\n"
        "<text x=\"{2}\" y=\"22\" font-size=\"16\">{3}</text>\n"
        "<text x=\"{2}\" y=\"42\">{4}</text>\n"
        "<text id=\"search\" x=\"{5}\" y=\"22\" text-anchor=\"end\" class=\"f\">search</text>\n"
        "<text id=\"found\" x=\"{5}\" y=\"42\" text-anchor=\"end\"></text>\n<g>\n",
        style_.width, height, kSide, escaped(style_.title), escaped(note), style_.width - kSide);
  }

  // Zooms into a clicked box: its callers fill the width, what lies beside it is hidden. A click on the lowest box shows all
  // again.
  std::string script() const {
    return fmt::format(R"(<script><![CDATA[
(function () {{
  var side = {}, full = {}, letter = {};
  var boxes = Array.prototype.slice.call(document.querySelectorAll('g.f'));
  function name(box) {{ return box.querySelector('title').textContent.split('\n')[0].replace(/ \([^(]*\)$/, ''); }}
  function show(box, x, width) {{
    var text = box.querySelector('text'), rect = box.querySelector('rect'), room = Math.floor((width - 4) / letter), label = name(box);
    rect.setAttribute('x', side + x); rect.setAttribute('width', width); text.setAttribute('x', side + x + 3);
    text.textContent = label.length <= room ? label : room < 3 ? '' : label.slice(0, room - 2) + '..';
  }}
  function zoom(target) {{
    var left = +target.dataset.x, wide = +target.dataset.w;
    boxes.forEach(function (box) {{
      var x = +box.dataset.x, w = +box.dataset.w, holds = x <= left + 0.01 && x + w >= left + wide - 0.01;
      var begin = (x - left) * full / wide, width = w * full / wide;
      box.style.display = holds || (begin > -0.01 && begin + width < full + 0.1) ? '' : 'none';
      if (holds) show(box, 0, full); else show(box, begin, width);
    }});
  }}
  boxes.forEach(function (box) {{ box.addEventListener('click', function () {{ zoom(box); }}); }});
  document.getElementById('search').addEventListener('click', function () {{
    var word = prompt('Frames that contain', ''), spans = [], sum = 0, end = -1;
    boxes.forEach(function (box) {{
      var hit = word && name(box).indexOf(word) >= 0;
      box.setAttribute('class', hit ? 'f m' : 'f');
      if (hit) spans.push([+box.dataset.x, +box.dataset.x + +box.dataset.w]);
    }});
    spans.sort(function (a, b) {{ return a[0] - b[0]; }}).forEach(function (s) {{
      sum += Math.max(0, s[1] - Math.max(s[0], end)); end = Math.max(end, s[1]);
    }});
    document.getElementById('found').textContent = word ? (100 * sum / full).toFixed(2) + ' % contain ' + word : '';
  }});
}})();
]]></script>
)",
                       kSide, style_.width - 2 * kSide, kCharacter);
  }

  const FlameStyle& style_;
  const Node& root_;
  bool is_difference_;
  double scale_;
  Rank least_ = kLeastRank;
  size_t depth_ = 0, omitted_ = 0;
  std::set<FrameKind> kinds_;  // that are drawn
  std::string boxes_;
};

}  // namespace

Result<std::string> flame_graph(const std::vector<FoldedStack>& stacks, const FlameStyle& style,
                                const std::vector<FoldedStack>* before) {
  Node root;
  if (Status added = add(root, stacks, &Node::weight); !added) return added.error();
  if (before)
    if (Status added = add(root, *before, &Node::before); !added) return added.error();
  if (root.weight <= 0) return Error{"no stack has a weight above 0"};
  return Drawing(style, root, before != nullptr).draw();
}

}  // namespace dvm::view
