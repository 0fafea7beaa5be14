// dvm page: saved results as a page for a browser. Covered by tests/runtime/scenarios/test_html.py.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "cmd/exporting.h"
#include "cmd/read_results.h"
#include "cmd/waiting.h"
#include "cmd/write_whole.h"
#include "view/flame_graph.h"
#include "view/saved_page.h"

namespace dvm::cmd {
namespace {

struct PageCommand {
  std::vector<std::string> files;
  std::string output;
  size_t rows = 10000;
  view::FlameStyle style{.title = "", .unit = "samples"};
};

std::string text_of(const view::Results& results, const PageCommand& given) {
  const WaitMessage waiting("writing the page");
  const runtime::Snapshot snapshot = view::snapshot_of(results, given.rows);
  return view::page(page_shell(), {.version = DVM_VERSION, .last = &snapshot, .flames = view::flames_of(results, given.style)});
}

int make_page(const PageCommand& given) {
  view::Results results;
  if (Status read = read_results(given.files, results); !read) return fail("{}", read.error().message);
  const std::string text = text_of(results, given);
  if (given.output.empty()) return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
  const Status written = write_whole(text, given.output);
  return written ? 0 : fail("{}", written.error().message);
}

}  // namespace

void add_page(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<PageCommand>();
  CLI::App* command = add_command(app, "page", "Write saved results as a page for a browser",
                                  {"dvm run --json --lines -o a.json script.d", "dvm page a.json -o a.html",
                                   "dvm merge a.json b.json | dvm page - -o both.html"});
  command
      ->add_option("FILE", given->files, "Output of dvm run --json or dvm merge; several files are merged; - for standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("-o", given->output, "Write to this file (default: standard output)")->type_name("FILE");
  command->add_option("--rows", given->rows, "Maximum number of rows of a table; the largest are kept (default: 10000)")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, size_t{100000}));
  command->add_option("--unit", given->style.unit, "Unit of the values, for tooltips of flame graphs (default: samples)")
      ->type_name("TEXT");
  command->callback([given, &chosen] { chosen = [given] { return make_page(*given); }; });
}

}  // namespace dvm::cmd
