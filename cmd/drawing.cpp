// Covered by tests/runtime/scenarios/test_validate.py and test_simulate.py.

#include "cmd/drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/axis.h"
#include "common/xml.h"

namespace dvm::cmd {
namespace {

constexpr double kLeft = kDrawingMargin, kBar = 10, kRow = 46;
constexpr double kPlotHeight = 260, kPlotLeft = 70, kPlotTop = 60;
constexpr double kAxisHeight = 44;
constexpr double kManyTimes = 50;  // as large as the smallest: then a logarithmic axis

Axis axis_of(const std::vector<BarPair>& bars) {
  double least = 1e300, most = 0;
  const auto add = [&](const Bar& bar) {
    most = std::max(most, bar.value + bar.spread);
    if (bar.value > bar.spread) least = std::min(least, bar.value);
  };
  for (const BarPair& pair : bars) {
    add(pair.measured);
    if (pair.predicted) add(*pair.predicted);
  }
  return most > kManyTimes * least ? Axis::logarithmic(least / 2, most) : Axis::linear(most);
}

std::string draw_bar(const Bar& bar, const Axis& axis, double top, std::string_view colour, std::string_view what) {
  const double from = axis.of(bar.value - bar.spread, kDrawingWidth), to = axis.of(bar.value + bar.spread, kDrawingWidth);
  return fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3}\" fill=\"{4}\"><title>{5}: {6:.4g} +- "
      "{7:.2g}</title></rect>\n"
      "<line x1=\"{8:.1f}\" x2=\"{9:.1f}\" y1=\"{10:.1f}\" y2=\"{10:.1f}\" stroke=\"black\"/>\n",
      kLeft, top, axis.of(bar.value, kDrawingWidth), kBar, colour, what, bar.value, bar.spread, kLeft + from, kLeft + to,
      top + kBar / 2);
}

struct Extent {
  double left = 1e300, right = 0, top = 0;
};

Extent extent_of(const std::vector<Line>& lines) {
  Extent extent;
  for (const Line& line : lines)
    for (const auto& [x, y] : line.points)
      extent.left = std::min(extent.left, x), extent.right = std::max(extent.right, x), extent.top = std::max(extent.top, y);
  return extent;
}

}  // namespace

namespace {

// From `top` on; returns where it ends.
double draw_group(std::string& svg, const BarGroup& group, double top) {
  const Axis axis = axis_of(group.bars);
  const double height = kRow * static_cast<double>(group.bars.size());
  svg += draw_horizontal(axis, group.unit, kLeft, top + height, height);
  for (const BarPair& pair : group.bars) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft, top + 14, xml_escaped(pair.name));
    if (pair.predicted) svg += draw_bar(*pair.predicted, axis, top + 19, drawing_colour(0), "predicted");
    svg += draw_bar(pair.measured, axis, top + 20 + kBar, drawing_colour(1), "measured");
    top += kRow;
  }
  return top + kAxisHeight;
}

}  // namespace

std::string draw_bars(const std::string& title, const std::vector<BarGroup>& groups) {
  const std::vector<std::string> legend = {"predicted", "measured; the line is the spread"};
  double bottom = 34 + kLegendRow * static_cast<double>(legend.size());
  std::string svg = draw_legend(kLeft, 28, legend);
  for (const BarGroup& group : groups) bottom = draw_group(svg, group, bottom);
  return begin_drawing(kDrawingWidth + 4 * kLeft, bottom, title) + svg + "</svg>\n";
}

std::string draw_lines(const std::string& title, const std::string& x_name, const std::string& y_name,
                       const std::vector<Line>& lines) {
  const Extent extent = extent_of(lines);
  const Axis x_axis = Axis::logarithmic(extent.left, extent.right), y_axis = Axis::linear(extent.top);
  const double bottom = kPlotTop + kPlotHeight, legend = bottom + kAxisHeight;
  std::vector<std::string> names;
  for (const Line& line : lines) names.push_back(line.name);
  std::string svg =
      begin_drawing(kPlotLeft + kDrawingWidth + 2 * kLeft, legend + kLegendRow * static_cast<double>(lines.size()), title);
  svg += draw_horizontal(x_axis, x_name, kPlotLeft, bottom, kPlotHeight);
  svg += draw_vertical(y_axis, y_name, kPlotLeft, bottom, kPlotHeight);
  for (size_t i = 0; i < lines.size(); i++) {
    std::string points;
    for (const auto& [x, y] : lines[i].points)
      points += fmt::format("{:.1f},{:.1f} ", kPlotLeft + x_axis.of(x, kDrawingWidth), bottom - y_axis.of(y, kPlotHeight));
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, drawing_colour(i));
  }
  return svg + draw_legend(kPlotLeft, legend, names) + "</svg>\n";
}

}  // namespace dvm::cmd
