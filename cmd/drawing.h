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
// Bars of one unit.
struct BarGroup {
  std::string unit;
  std::vector<BarPair> bars;
};
// Predicted above measured, with error bars. Each group has an axis of its own, logarithmic where the largest bar is far from the
// smallest that is longer than its spread.
std::string draw_bars(const std::string& title, const std::vector<BarGroup>& groups);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};
// Over a logarithmic axis.
std::string draw_lines(const std::string& title, const std::string& x_name, const std::string& y_name,
                       const std::vector<Line>& lines);

}  // namespace dvm::cmd
