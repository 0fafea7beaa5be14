// dvm flame: stacks of a run as a flame graph, or folded. Covered by tests/runtime/scenarios/test_views.py.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "cmd/command.h"
#include "cmd/read_results.h"
#include "cmd/waiting.h"
#include "cmd/write_whole.h"
#include "view/flame_graph.h"
#include "view/folded.h"

namespace dvm::cmd {
namespace {

struct FlameCommand {
  std::string file, before, aggregation, output;
  bool folded = false, off_cpu = false;
  view::FlameStyle style;
};

Result<std::vector<view::FoldedStack>> stacks_of(const std::string& file, const std::string& aggregation) {
  view::Results results;
  if (Status read = read_results({file}, results); !read) return read.error();
  Result<std::string> name = view::choose_stacks(results, aggregation.substr(aggregation.starts_with('@') ? 1 : 0));
  if (!name) return Error{fmt::format("{}: {}", file, name.error().message)};
  std::optional<WaitMessage> waiting("folding stacks");
  std::vector<view::FoldedStack> stacks = view::fold(results, *name);
  waiting.reset();
  if (const std::string note = view::left_out_text(stacks, *name); !note.empty()) tell("{}", note);
  return stacks;
}

Result<std::string> drawn(const FlameCommand& given) {
  Result<std::vector<view::FoldedStack>> stacks = stacks_of(given.file, given.aggregation);
  if (!stacks) return stacks.error();
  if (given.folded) return view::folded_lines(*stacks);
  std::optional<std::vector<view::FoldedStack>> before;
  if (!given.before.empty()) {
    Result<std::vector<view::FoldedStack>> read = stacks_of(given.before, given.aggregation);
    if (!read) return read.error();
    before = *std::move(read);
  }
  const WaitMessage waiting("drawing the flame graph");
  return view::flame_graph(*stacks, given.style, before ? &*before : nullptr);
}

int write(const std::string& text, const std::string& path) {
  if (path.empty()) return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
  const Status written = write_whole(text, path);
  return written ? 0 : fail("{}", written.error().message);
}

int flame(FlameCommand given) {
  given.style.palette = given.off_cpu ? view::FlamePalette::off_cpu : view::FlamePalette::hot;
  if (given.style.title.empty())
    given.style.title = given.before.empty() ? given.file : given.file + " compared with " + given.before;
  Result<std::string> text = drawn(given);
  return text ? write(*text, given.output) : fail("{}", text.error().message);
}

}  // namespace

void add_flame(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<FlameCommand>();
  given->style.unit = "samples";
  CLI::App* command =
      add_command(app, "flame", "Draw the stacks of a run as a flame graph",
                  {"dvm run --json -n 'profile-997 /pid == $target/ { @[ustack()] = count(); }' -p 1234 -o a.json",
                   "dvm flame a.json -o a.svg", "dvm flame --folded a.json"});
  command->add_option("FILE", given->file, "Output of dvm run --json or dvm merge; - for standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("-o", given->output, "Write to this file (default: standard output)")->type_name("FILE");
  command->add_option("-a,--aggregation", given->aggregation, "Aggregation to draw (default: the only one with stacks)")
      ->type_name("NAME");
  CLI::Option* folded =
      command->add_flag("--folded", given->folded, "Print one line per stack, with semicolons between its frames");
  command->add_option("--before", given->before, "Colour what grew or shrank since this run")
      ->type_name("FILE")
      ->excludes(folded);
  command->add_flag("--off-cpu", given->off_cpu, "Use blue colours, for time off the CPU")->excludes(folded);
  command->add_option("--title", given->style.title, "Title of the drawing (default: the name of the file)")->type_name("TEXT");
  command->add_option("--unit", given->style.unit, "Unit of the values, for tooltips (default: samples)")->type_name("TEXT");
  command->callback([given, &chosen] { chosen = [given] { return flame(*given); }; });
}

}  // namespace dvm::cmd
