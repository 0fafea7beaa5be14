// A prediction as an SVG drawing. Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <algorithm>

#include "cmd/axis.h"
#include "cmd/cost_report.h"
#include "common/xml.h"
#include "runtime/cost/rows.h"

namespace dvm::cmd {
namespace {

struct Segment {
  std::string name;
  double clocks;
};

constexpr double kBar = 22, kRow = 40, kAxisHeight = 44;

std::vector<Segment> parts_of(const runtime::ProbePrediction& probe) {
  std::vector<Segment> parts;
  for (size_t i = 0; i < probe.stages.size(); i++)
    if (probe.stages[i].clocks > 0)
      parts.push_back({fmt::format("{}: {}", probe.source, runtime::kFlowStages[i]), probe.stages[i].clocks});
  if (probe.capture.clocks > 0) parts.push_back({"capture", probe.capture.clocks});
  parts.push_back({"preparation", probe.prepare.clocks});
  for (const runtime::ClausePrediction& clause : probe.clauses) {
    if (clause.cost.has_predicate)
      parts.push_back({fmt::format("predicate of line {}", clause.position.line), clause.cost.predicate.expected.clocks});
    parts.push_back(
        {fmt::format("actions of line {}", clause.position.line), clause.cost.actions.expected.clocks * clause.cost.probability});
  }
  return parts;
}

// Every name once, in the order in which parts come: a part has its colour in all bars.
std::vector<std::string> legend_of(const runtime::Prediction& prediction) {
  std::vector<std::string> names;
  for (const runtime::ProbePrediction& probe : prediction.probes)
    for (const Segment& part : parts_of(probe))
      if (std::find(names.begin(), names.end(), part.name) == names.end()) names.push_back(part.name);
  return names;
}

void draw_bar(std::string& svg, const runtime::ProbePrediction& probe, double top, const Axis& axis,
              const std::vector<std::string>& legend) {
  svg += fmt::format("<text x=\"{}\" y=\"{}\">{}: {:.0f} clocks</text>\n", kDrawingMargin, top + 12,
                     xml_escaped(probe.description), probe.firing.expected.clocks);
  double before = 0;
  for (const Segment& part : parts_of(probe)) {
    const double x = axis.of(before, kDrawingWidth), end = axis.of(before + part.clocks, kDrawingWidth);
    const auto number = static_cast<size_t>(std::find(legend.begin(), legend.end(), part.name) - legend.begin());
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}: {:.0f} clocks</title></rect>\n",
        kDrawingMargin + x, top + 16, end - x, kBar, drawing_colour(number), xml_escaped(part.name), part.clocks);
    before += part.clocks;
  }
}

}  // namespace

std::string draw_prediction(const runtime::Prediction& prediction, const PredictionContext& context) {
  double most = 1;
  for (const runtime::ProbePrediction& probe : prediction.probes) most = std::max(most, probe.firing.expected.clocks);
  const std::vector<std::string> legend = legend_of(prediction);
  const Axis axis = Axis::linear(most);
  const double top = 36 + kLegendRow * static_cast<double>(legend.size()),
               height = kRow * static_cast<double>(prediction.probes.size());
  std::string svg = begin_drawing(kDrawingWidth + 4 * kDrawingMargin, top + height + kAxisHeight,
                                  fmt::format("Predicted cost of a firing, by profile {}", context.profile.name));
  svg += draw_legend(kDrawingMargin, 28, legend) + draw_horizontal(axis, "clocks", kDrawingMargin, top + height, height);
  double row = top;
  for (const runtime::ProbePrediction& probe : prediction.probes) draw_bar(svg, probe, row, axis, legend), row += kRow;
  return svg + "</svg>\n";
}

}  // namespace dvm::cmd
