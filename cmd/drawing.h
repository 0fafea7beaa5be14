#pragma once
// Drawings as SVG: what several reports share.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::cmd {

// For text and attributes.
std::string xml_escaped(std::string_view text);

struct Bar {
  double value = 0, spread = 0;
};
struct BarPair {
  std::string name;
  Bar measured;
  std::optional<Bar> predicted;
};
// Predicted above measured, with error bars; on a logarithmic scale where the largest is far from the smallest.
std::string draw_bars(const std::string& title, const std::vector<BarPair>& bars);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};
// Over a logarithmic axis.
std::string draw_lines(const std::string& title, const std::string& x_name, const std::string& y_name,
                       const std::vector<Line>& lines);

}  // namespace dvm::cmd
