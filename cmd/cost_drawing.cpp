// A prediction as an SVG drawing. Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <algorithm>

#include "cmd/cost_report.h"
#include "cmd/drawing.h"
#include "runtime/cost/rows.h"

namespace dvm::cmd {
namespace {

struct Part {
  std::string name;
  double clocks;
};

constexpr double kWidth = 640, kBar = 22, kRow = 58, kLeft = 16, kTop = 44;
constexpr std::string_view kColours[] = {"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f"};

std::vector<Part> parts_of(const runtime::ProbePrediction& probe) {
  std::vector<Part> parts;
  for (size_t i = 0; i < probe.stages.size(); i++)
    if (probe.stages[i].clocks > 0)
      parts.push_back({fmt::format("{}: {}", probe.source, runtime::kFlowStages[i].name), probe.stages[i].clocks});
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

void draw_bar(std::string& svg, const runtime::ProbePrediction& probe, double top, double scale) {
  svg += fmt::format("<text x=\"{}\" y=\"{}\">{}: {:.0f} clocks</text>\n", kLeft, top, xml_escaped(probe.description),
                     probe.firing.expected.clocks);
  double x = kLeft;
  size_t colour = 0;
  for (const Part& part : parts_of(probe)) {
    const double width = part.clocks * scale;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}: {:.0f} clocks</title></rect>\n", x,
        top + 8, width, kBar, kColours[colour++ % std::size(kColours)], xml_escaped(part.name), part.clocks);
    x += width;
  }
}

}  // namespace

std::string draw_prediction(const runtime::Prediction& prediction, const PredictionContext& context) {
  double most = 1;
  for (const runtime::ProbePrediction& probe : prediction.probes) most = std::max(most, probe.firing.expected.clocks);
  const double height = kTop + kRow * static_cast<double>(prediction.probes.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n",
      kWidth + 2 * kLeft, height);
  svg += fmt::format("<text x=\"{}\" y=\"18\">Predicted clocks per firing, by profile {}</text>\n", kLeft,
                     xml_escaped(context.profile.name));
  double top = kTop;
  for (const runtime::ProbePrediction& probe : prediction.probes) draw_bar(svg, probe, top, kWidth / most), top += kRow;
  return svg + "</svg>\n";
}

}  // namespace dvm::cmd
