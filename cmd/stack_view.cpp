// Covered by tests/runtime/scenarios/test_views.py.

#include "cmd/stack_view.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cmd/command.h"
#include "cmd/waiting.h"
#include "cmd/write_whole.h"
#include "view/folded.h"
#include "view/saved_page.h"

namespace dvm::cmd {
namespace {

constexpr const char* kPrinted = "printa() has printed every aggregation with a stack as a key: nothing is left to draw";
constexpr const char* kEmpty = "every aggregation with a stack as a key is empty: nothing to draw";

// The file has no name; it is read from its beginning.
Status read(std::FILE* file, view::Results& results) {
  std::ifstream lines(fmt::format("/proc/self/fd/{}", fileno(file)));
  if (!lines) return Error{fmt::format("could not read stacks from a temporary file: {}", std::strerror(errno))};
  if (lines.peek() == std::ifstream::traits_type::eof()) return {};
  return results.add("the run", lines);
}

// a.svg for the only aggregation; a-NAME.svg for one of several.
std::string file_for(const std::string& file, const std::string& name, bool is_only) {
  if (is_only) return file;
  std::filesystem::path path(file);
  return path.replace_filename(path.stem().string() + "-" + (name.empty() ? "anonymous" : name) + path.extension().string());
}

}  // namespace

void add_view_options(CLI::App& command, StackViewOptions& options) {
  CLI::Option* folded =
      command
          .add_flag("--folded", options.folded, "Print stacks in keys of aggregations folded, one line each, for flame graphs")
          ->excludes("--json");
  CLI::Option* flame =
      command.add_option("--flame", options.flame, "Draw stacks in keys of aggregations as a flame graph (SVG) into this file")
          ->type_name("FILE")
          ->excludes(folded);
  command.add_flag("--off-cpu", options.off_cpu, "Use blue colours for --flame, for time off the CPU")->needs(flame);
  command.add_option("--unit", options.unit, "Unit of the values of --flame, for its tooltips (default: samples)")
      ->type_name("TEXT")
      ->needs(flame);
  command.add_flag("--lines", options.lines, "Add source lines and inlined functions to the stacks of --json");
}

Status check_view(const StackViewOptions& given, std::span<const dif::Program* const> programs) {
  if (!given.folded && given.flame.empty()) return {};
  const auto is_stack = [](const dif::RecDesc& key) { return dif::is_stack(key.made_by); };
  for (const dif::Program* program : programs)
    for (const dif::EcbDesc& clause : program->clauses)
      for (const dif::ActDesc& action : clause.actions)
        if (dif::find_aggregation(action.kind) && std::any_of(action.args.begin(), action.args.end(), is_stack)) return {};
  return Error{"no aggregation has a stack as a key: nothing to draw"};
}

StackView::StackView(const StackViewOptions& given, bool for_page)
    : given_(given), copy_(for_page || given.folded || !given.flame.empty() ? std::tmpfile() : nullptr, std::fclose) {}

view::FlameStyle StackView::style(const std::string& name) const {
  return {.title = name.empty() ? "dvm" : "@" + name,
          .unit = given_.unit,
          .palette = given_.off_cpu ? view::FlamePalette::off_cpu : view::FlamePalette::hot};
}

Result<std::vector<view::PageFlame>> StackView::flames() {
  if (!copy_) return Error{fmt::format("could not keep stacks in a temporary file: {}", std::strerror(errno))};
  view::Results results;
  if (Status done = read(copy_.get(), results); !done) return done.error();
  return view::flames_of(results, style(""));
}

Status StackView::show(std::FILE* out) {
  if (!given_.folded && given_.flame.empty()) return {};
  if (!copy_) return Error{fmt::format("could not keep stacks in a temporary file: {}", std::strerror(errno))};
  view::Results results;
  std::optional<WaitMessage> waiting("drawing the flame graph");
  if (Status done = read(copy_.get(), results); !done) return done;
  const std::vector<std::string> names = view::names_with_stacks(results);
  if (names.empty()) return Error{results.aggregations().empty() ? kPrinted : kEmpty};
  std::vector<std::string> notes;
  std::string folded;
  Status all;
  for (const std::string& name : names) {
    const std::vector<view::FoldedStack> stacks = view::fold(results, name);
    if (std::string note = view::left_out_text(stacks, name); !note.empty()) notes.push_back(std::move(note));
    if (given_.folded)
      folded += view::folded_lines(stacks);
    else if (Status drawn = draw(stacks, name, file_for(given_.flame, name, names.size() == 1)); !drawn)
      all = drawn;
  }
  waiting.reset();
  fmt::print(out, "{}", folded);
  for (const std::string& note : notes) tell("{}", note);
  return all;
}

Status StackView::draw(const std::vector<view::FoldedStack>& stacks, const std::string& name, const std::string& file) const {
  const Result<std::string> text = view::flame_graph(stacks, style(name));
  if (!text) return Error{fmt::format("@{}: {}", name, text.error().message)};
  return write_whole(*text, file);
}

}  // namespace dvm::cmd
