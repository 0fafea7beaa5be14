// Tested by tests/unit/cmd/axis_test.cpp.

#include "cmd/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/xml.h"

namespace dvm::cmd {
namespace {

constexpr std::string_view kColours[] = {"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f"};
constexpr double kFewDecades = 2;  // up to which 2 and 5 are ticks, too
constexpr double kMostTicks = 7;

// The smallest of 1, 2 and 5 times a power of ten that is not below the value.
double round_step(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string grid_line(double x1, double x2, double y1, double y2) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, x2, y1, y2);
}

std::string label(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"#444\">{}</text>\n", x, y, anchor,
                     xml_escaped(text));
}

}  // namespace

// The background is white also where the page around it is dark.
std::string begin_drawing(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "style=\"background:#fff;max-width:100%\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<text x=\"{2}\" y=\"18\" font-weight=\"bold\">{3}</text>\n",
      width, height, kDrawingMargin, xml_escaped(title));
}

std::string_view drawing_colour(size_t number) { return kColours[number % std::size(kColours)]; }

std::string draw_legend(double left, double top, const std::vector<std::string>& names) {
  std::string svg = "<g>\n";
  for (size_t i = 0; i < names.size(); i++) {
    const double y = top + kLegendRow * static_cast<double>(i);
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
                       left, y, drawing_colour(i), left + 16, y + 9, xml_escaped(names[i]));
  }
  return svg + "</g>\n";
}

Axis Axis::linear(double most) {
  Axis axis;
  axis.most_ = most > 0 ? most : 1;
  return axis;
}

Axis Axis::logarithmic(double least, double most) {
  Axis axis;
  axis.least_ = std::max(least, 1e-9);
  axis.most_ = std::max(most, axis.least_ * 1.0001);
  return axis;
}

double Axis::of(double value, double length) const {
  if (!is_logarithmic()) return length * std::clamp(value / most_, 0.0, 1.0);
  if (value <= least_) return 0;
  return length * std::min((std::log(value) - std::log(least_)) / (std::log(most_) - std::log(least_)), 1.0);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  if (!is_logarithmic()) {
    const double step = round_step(most_ / (kMostTicks - 1));
    for (size_t i = 0; static_cast<double>(i) * step <= most_ * (1 + 1e-9); i++) ticks.push_back(static_cast<double>(i) * step);
    return ticks;
  }
  const double decades = std::log10(most_) - std::log10(least_);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / kMostTicks)));
  for (int i = static_cast<int>(std::floor(std::log10(least_))); std::pow(10, i) <= most_ * (1 + 1e-9); i += step)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, i);
      const bool is_wanted = factor == 1 || decades <= kFewDecades;
      if (is_wanted && value >= least_ * (1 - 1e-9) && value <= most_ * (1 + 1e-9)) ticks.push_back(value);
    }
  return ticks;
}

std::string Axis::title(const std::string& name) const { return name + (is_logarithmic() ? " (logarithmic)" : ""); }

std::string draw_horizontal(const Axis& axis, const std::string& name, double left, double bottom, double height) {
  std::string svg;
  for (const double tick : axis.ticks()) {
    const double x = left + axis.of(tick, kDrawingWidth);
    svg += grid_line(x, x, bottom - height, bottom + 4) + label(x, bottom + 16, "middle", fmt::format("{:.6g}", tick));
  }
  return svg + label(left + kDrawingWidth / 2, bottom + 34, "middle", axis.title(name));
}

std::string draw_vertical(const Axis& axis, const std::string& name, double left, double bottom, double height) {
  std::string svg;
  for (const double tick : axis.ticks()) {
    const double y = bottom - axis.of(tick, height);
    svg += grid_line(left - 4, left + kDrawingWidth, y, y) + label(left - 7, y + 4, "end", fmt::format("{:.6g}", tick));
  }
  return svg + label(kDrawingMargin, bottom - height - 8, "start", axis.title(name));
}

}  // namespace dvm::cmd
