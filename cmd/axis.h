#pragma once
// Axes, legends and colours of drawings as SVG.

#include <string>
#include <string_view>
#include <vector>

namespace dvm::cmd {

inline constexpr double kDrawingWidth = 640, kDrawingMargin = 16;
inline constexpr double kLegendRow = 16;

std::string begin_drawing(double width, double height, const std::string& title);

std::string_view drawing_colour(size_t number);

// A swatch and a name for each colour, one below the other.
std::string draw_legend(double left, double top, const std::vector<std::string>& names);

// From values to pixels: linear from 0, or logarithmic between two values above 0.
class Axis {
 public:
  static Axis linear(double most);
  static Axis logarithmic(double least, double most);

  bool is_logarithmic() const { return least_ > 0; }
  // Pixels from the axis' beginning; what lies outside is moved to its end.
  double of(double value, double length) const;
  // Round values inside the axis, some six of them.
  std::vector<double> ticks() const;
  // The name of what it measures, with "logarithmic" if that is so.
  std::string title(const std::string& name) const;

 private:
  double least_ = 0, most_ = 1;
};

// A horizontal axis below a plot, and grid lines of the plot's height above its ticks.
std::string draw_horizontal(const Axis& axis, const std::string& name, double left, double bottom, double height);
// A vertical axis left of a plot, and grid lines of the plot's width; its name stands above it.
std::string draw_vertical(const Axis& axis, const std::string& name, double left, double bottom, double height);

}  // namespace dvm::cmd
