// dvm merge: the results of several runs as those of one. Covered by tests/runtime/scenarios/test_views.py.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>

#include "cmd/command.h"
#include "cmd/read_results.h"
#include "cmd/waiting.h"

namespace dvm::cmd {
namespace {

using view::Json;
using view::Results;

std::string text_of(const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace); }
void print_line(const Json& line) { fmt::print("{}\n", text_of(line)); }

std::vector<Results::KeyedRow> sorted_rows(const runtime::MergedAggregation& aggregation) {
  const WaitMessage waiting("sorting rows");
  return Results::rows(aggregation);
}

// Row by row: there may be a million.
void print_aggregation(const runtime::MergedAggregation& aggregation) {
  const char* comma = "";
  fmt::print("{{\"type\":\"aggregation\",\"aggregations\":[{}],\"rows\":[", text_of(runtime::json_of(aggregation)));
  for (const Results::KeyedRow& row : sorted_rows(aggregation)) {
    Json line = {{"keys", row.keys}, {"values", Json::array({runtime::json_of(aggregation, row.row)})}};
    if (!runtime::tells_state(aggregation)) line["states"] = Json::array({runtime::state_of(aggregation, row.row)});
    fmt::print("{}{}", std::exchange(comma, ","), text_of(line));
  }
  fmt::print("]}}\n");
}

int merge(const std::vector<std::string>& files) {
  Results results;
  if (Status read = read_results(files, results); !read) return fail("{}", read.error().message);
  for (const Json& line : results.losses()) print_line(line);
  for (const runtime::MergedAggregation& aggregation : results.aggregations()) print_aggregation(aggregation);
  print_line({{"type", "exit"}, {"status", 0}});
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, CommandAction& chosen) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = add_command(
      app, "merge", "Merge the aggregations of several runs into those of one",
      {"dvm run --json -o a.json script.d", "dvm merge a.json b.json", "ssh host dvm run --json script.d | dvm merge - a.json"});
  command->add_option("FILE", *files, "Output of dvm run --json; - for standard input")->type_name("FILE")->required();
  command->callback([files, &chosen] { chosen = [files] { return merge(*files); }; });
}

}  // namespace dvm::cmd
