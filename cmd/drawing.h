#pragma once
// Drawings as SVG: what several reports share.

#include <optional>
#include <string>
#include <vector>

namespace dvm::cmd {

struct Bar {
  double value = 0, spread = 0;
};
struct BarPair {
  std::string name;
  Bar measured;
  std::optional<Bar> predicted;
};
// Predicted above measured, with error bars; on a logarithmic axis where the largest is far from the smallest. unit: of the axis.
std::string draw_bars(const std::string& title, const std::string& unit, const std::vector<BarPair>& bars);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};
// Over a logarithmic axis.
std::string draw_lines(const std::string& title, const std::string& x_name, const std::string& y_name,
                       const std::vector<Line>& lines);

}  // namespace dvm::cmd
