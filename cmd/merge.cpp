// dvm merge: the results of several runs as those of one. Covered by tests/runtime/scenarios/test_views.py.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cmd/command.h"
#include "cmd/read_results.h"

namespace dvm::cmd {
namespace {

using view::Json;
using view::Results;

void print_line(const Json& line) { fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace)); }

void print_aggregation(const Results& results, const runtime::MergedAggregation& aggregation) {
  Json line = {{"type", "aggregation"}, {"aggregations", Json::array({runtime::json_of(aggregation)})}, {"rows", Json::array()}};
  for (const Results::KeyedRow& row : results.rows(aggregation)) {
    line["rows"].push_back({{"keys", *row.keys}, {"values", Json::array({runtime::json_of(aggregation, row.row)})}});
    if (!runtime::tells_state(aggregation))
      line["rows"].back()["states"] = Json::array({runtime::state_of(aggregation, row.row)});
  }
  print_line(line);
}

int merge(const std::vector<std::string>& files) {
  Results results;
  if (Status read = read_results(files, results); !read) return fail("{}", read.error().message);
  for (const Json& line : results.losses()) print_line(line);
  for (const runtime::MergedAggregation& aggregation : results.aggregations()) print_aggregation(results, aggregation);
  print_line({{"type", "exit"}, {"status", 0}});
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, Action& chosen) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("merge", "Merge the aggregations of several runs into those of one");
  command->footer(
      "Examples:\n"
      "  dvm run --json -o a.json script.d\n"
      "  dvm merge a.json b.json\n"
      "  ssh host dvm run --json script.d | dvm merge - a.json");
  command->add_option("FILE", *files, "Output of dvm run --json; - for standard input")->type_name("FILE")->required();
  command->callback([files, &chosen] { chosen = [files] { return merge(*files); }; });
}

}  // namespace dvm::cmd
