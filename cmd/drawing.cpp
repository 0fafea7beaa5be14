// Covered by tests/runtime/scenarios/test_validate.py.

#include "cmd/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dvm::cmd {
namespace {

constexpr double kWidth = 640, kLeft = 16, kTop = 44, kBar = 10, kRow = 46;
constexpr double kPlotHeight = 260, kPlotLeft = 70;
constexpr double kManyTimes = 50;  // as large as the smallest: then a logarithmic scale
constexpr std::string_view kColours[] = {"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f"};

std::string begin(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<text x=\"{}\" y=\"18\" font-weight=\"bold\">{}</text>\n",
      width, height, kLeft, xml_escaped(title));
}

// A scale for values above 0, between the smallest and the largest.
class Scale {
 public:
  void add(double value) {
    if (value <= 0) return;
    least_ = std::min(least_, value), most_ = std::max(most_, value);
  }
  bool is_logarithmic() const { return most_ > kManyTimes * least_; }
  double of(double value, double length) const {
    if (value <= 0 || most_ <= 0) return 0;
    if (!is_logarithmic()) return length * value / most_;
    return length * std::clamp(std::log(value / (least_ / 2)) / std::log(most_ / (least_ / 2)), 0.0, 1.0);
  }

 private:
  double least_ = 1e300, most_ = 0;
};

std::string draw_bar(const Bar& bar, const Scale& scale, double top, std::string_view colour, std::string_view what) {
  const double width = scale.of(bar.value, kWidth);
  const double from = scale.of(std::max(bar.value - bar.spread, 0.0), kWidth), to = scale.of(bar.value + bar.spread, kWidth);
  return fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3}\" fill=\"{4}\"><title>{5}: {6:.4g} +- "
      "{7:.2g}</title></rect>\n"
      "<line x1=\"{8:.1f}\" x2=\"{9:.1f}\" y1=\"{10:.1f}\" y2=\"{10:.1f}\" stroke=\"black\"/>\n",
      kLeft, top, width, kBar, colour, what, bar.value, bar.spread, kLeft + from, kLeft + std::min(to, kWidth), top + kBar / 2);
}

double log10_of(double value) { return std::log10(std::max(value, 1e-9)); }

struct Extent {
  double left = 1e300, right = 0, top = 0;
};

Extent extent_of(const std::vector<Line>& lines) {
  Extent extent;
  for (const Line& line : lines)
    for (const auto& [x, y] : line.points)
      extent.left = std::min(extent.left, x), extent.right = std::max(extent.right, x), extent.top = std::max(extent.top, y);
  if (extent.top <= 0) extent.top = 1;
  return extent;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string draw_bars(const std::string& title, const std::vector<BarPair>& bars) {
  Scale scale;
  for (const BarPair& pair : bars) {
    scale.add(pair.measured.value + pair.measured.spread);
    if (pair.predicted) scale.add(pair.predicted->value + pair.predicted->spread);
  }
  std::string svg = begin(kWidth + 2 * kLeft, kTop + kRow * static_cast<double>(bars.size()) + 8,
                          title + (scale.is_logarithmic() ? " (logarithmic)" : "") + ": predicted above measured");
  double top = kTop;
  for (const BarPair& pair : bars) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft, top, xml_escaped(pair.name));
    if (pair.predicted) svg += draw_bar(*pair.predicted, scale, top + 5, kColours[0], "predicted");
    svg += draw_bar(pair.measured, scale, top + 6 + kBar, kColours[1], "measured");
    top += kRow;
  }
  return svg + "</svg>\n";
}

std::string draw_lines(const std::string& title, const std::string& x_name, const std::string& y_name,
                       const std::vector<Line>& lines) {
  const Extent extent = extent_of(lines);
  const double decades = std::max(log10_of(extent.right) - log10_of(extent.left), 1e-9);
  std::string svg = begin(kPlotLeft + kWidth + kLeft, kTop + kPlotHeight + 40 + 16 * static_cast<double>(lines.size()), title);
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n", kPlotLeft, kTop,
                     kWidth, kPlotHeight);
  svg += fmt::format("<text x=\"{}\" y=\"{}\">{} from {:.3g} to {:.3g}; {} from 0 to {:.3g}</text>\n", kPlotLeft,
                     kTop + kPlotHeight + 18, xml_escaped(x_name), extent.left, extent.right, xml_escaped(y_name), extent.top);
  size_t at = 0;
  for (const Line& line : lines) {
    const std::string_view colour = kColours[at % std::size(kColours)];
    std::string points;
    for (const auto& [x, y] : line.points)
      points += fmt::format("{:.1f},{:.1f} ", kPlotLeft + kWidth * (log10_of(x) - log10_of(extent.left)) / decades,
                            kTop + kPlotHeight * (1 - y / extent.top));
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kPlotLeft,
                       kTop + kPlotHeight + 36 + 16 * static_cast<double>(at), colour, xml_escaped(line.name));
    at++;
  }
  return svg + "</svg>\n";
}

}  // namespace dvm::cmd
