// Tested by tests/unit/view/flame_graph_test.cpp.

#include "view/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "common/utf8.h"
#include "common/xml.h"
#include "view/flame_script.h"

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

// Cut where it is wider than a box.
std::string shortened(const std::string& name, double width) {
  const auto room = static_cast<size_t>(std::max(0.0, (width - 4) / kCharacter));
  size_t characters = 0, end = 0;  // end: of the characters that stay if it is cut
  for (size_t at = 0; at < name.size(); at += std::max<size_t>(utf8_length(std::string_view(name).substr(at)), 1)) {
    if (characters + 2 == room) end = at;
    characters++;
  }
  if (characters <= room) return name;
  return room < 3 ? std::string() : name.substr(0, end) + "..";
}

constexpr double kLeastWidth = 0.1;  // of a frame that is drawn, in pixels
constexpr double kLeastRest = 1;     // of the box for those that are not

// The callees of a frame that are too narrow to be drawn, with theirs.
struct Rest {
  Node sum;
  size_t frames = 0;
};

// One drawing: the boxes, and what they need to know of the whole.
class FlameDrawing {
 public:
  FlameDrawing(const FlameStyle& style, const Node& root, bool is_difference)
      : style_(style), root_(root), is_difference_(is_difference), scale_((style.width - 2 * kSide) / root.weight) {}

  std::string draw() {
    choose();
    depth_ = depth(root_);
    add_box({"all", FrameKind::key}, root_, 0, 0);
    add_children(root_, 0, 1);
    return head() + boxes_ + "</g>\n" + std::string(kFlameScript) + "</svg>\n";
  }

 private:
  double width_of(const Node& node) const { return node.weight * scale_; }

  // The widest kMostFlameBoxes frames; of equal width those of lower rows, then those whose names come first. Callers come before
  // their callees in this order, so that none is missing.
  void choose() {
    struct Candidate {
      const Node* node;
      size_t row, order;
    };
    std::vector<Candidate> all;
    const auto collect = [&](const Node& node, size_t row, auto& self) -> void {
      if (width_of(node) < kLeastWidth) return;
      all.push_back({&node, row, all.size()});
      for (const auto& [key, inner] : node.children) self(*inner, row + 1, self);
    };
    collect(root_, 0, collect);
    if (all.size() > kMostFlameBoxes) {
      std::nth_element(all.begin(), all.begin() + kMostFlameBoxes, all.end(), [](const Candidate& a, const Candidate& b) {
        return std::tie(b.node->weight, a.row, a.order) < std::tie(a.node->weight, b.row, b.order);
      });
      all.resize(kMostFlameBoxes);
    }
    for (const Candidate& one : all) drawn_.insert(one.node);
  }

  // With its callees; those of weight 0 are only in the run before.
  static size_t frames_of(const Node& node) {
    size_t count = node.weight > 0 ? 1 : 0;
    for (const auto& [key, inner] : node.children) count += frames_of(*inner);
    return count;
  }

  Rest rest_of(const Node& node) const {
    Rest rest;
    for (const auto& [key, inner] : node.children)
      if (!drawn_.contains(inner.get()))
        rest.sum.weight += inner->weight, rest.sum.before += inner->before, rest.frames += frames_of(*inner);
    return rest;
  }
  bool is_drawn(const Rest& rest) const { return rest.frames > 0 && width_of(rest.sum) >= kLeastRest; }

  // Rows of boxes that are drawn, from this one on.
  size_t depth(const Node& node) const {
    size_t most = is_drawn(rest_of(node)) ? 1 : 0;
    for (const auto& [key, inner] : node.children)
      if (drawn_.contains(inner.get())) most = std::max(most, depth(*inner));
    return most + 1;
  }

  void add_children(const Node& node, double x, size_t row) {
    for (const auto& [key, inner] : node.children) {
      if (!drawn_.contains(inner.get())) {
        if (inner->weight > 0) widest_merged_ = std::max(widest_merged_, width_of(*inner));
        continue;
      }
      add_box(key, *inner, x, row);
      add_children(*inner, x, row + 1);
      x += width_of(*inner);
    }
    const Rest rest = rest_of(node);
    merged_ += rest.frames;
    if (is_drawn(rest)) add_box({fmt::format("and {} more", rest.frames), FrameKind::key}, rest.sum, x, row);
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
        xml_escaped(shortened(name, width)));
  }

  std::string tooltip(const std::string& name, const Node& node) const {
    std::string text = fmt::format("{} ({:.0f} {}, {:.2f} %", name, node.weight, style_.unit, 100 * node.weight / root_.weight);
    if (is_difference_) text += fmt::format("; {:+.2f} %", 100 * growth(node));
    return xml_escaped(text + ")") + places_of(node);
  }

  // In XML: the places with the most weight, a line each; with their shares if there are several.
  static std::string places_of(const Node& node) {
    constexpr size_t kMost = 4;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [place, weight] : node.places) order.emplace_back(-weight, place);
    std::sort(order.begin(), order.end());
    std::string text;
    for (size_t i = 0; i < std::min(order.size(), kMost); i++) {
      text += "&#10;" + xml_escaped(order[i].second);
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
    if (merged_ > 0)
      note += fmt::format("; {} frames of {:.2g} pixels or less are merged: \"and N more\"", merged_, widest_merged_);
    note += legend();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"100%\" style=\"max-width:{0}px\" "
        "font-family=\"monospace\" font-size=\"12\">\n"
        "<style>.f{{cursor:pointer}}.f:hover rect{{stroke:#000}}.f text{{pointer-events:none;fill:#000}}.m "
        "rect{{fill:#e04fd0}}.h{{fill:#222}}@media (prefers-color-scheme:dark){{.p{{fill:#14171a}}.h{{fill:#e4e8ec}}.f:hover "
        "rect{{stroke:#fff}}}}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf6\" class=\"p\"/>\n"
        "<text id=\"title\" x=\"{2}\" y=\"22\" font-size=\"16\" class=\"h\">{3}</text>\n"
        "<text id=\"note\" x=\"{2}\" y=\"42\" class=\"h\">{4}</text>\n"
        "<text id=\"search\" x=\"{5}\" y=\"22\" text-anchor=\"end\" class=\"h\" cursor=\"pointer\">search</text>\n"
        "<text id=\"found\" x=\"{5}\" y=\"42\" text-anchor=\"end\" class=\"h\"></text>\n<g id=\"boxes\">\n",
        style_.width, height, kSide, xml_escaped(style_.title), xml_escaped(note), style_.width - kSide);
  }

  const FlameStyle& style_;
  const Node& root_;
  bool is_difference_;
  double scale_;
  std::unordered_set<const Node*> drawn_;
  size_t depth_ = 0, merged_ = 0;  // rows; frames that are not drawn
  double widest_merged_ = 0;       // pixels
  std::set<FrameKind> kinds_;      // that are drawn
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
  return FlameDrawing(style, root, before != nullptr).draw();
}

}  // namespace dvm::view
